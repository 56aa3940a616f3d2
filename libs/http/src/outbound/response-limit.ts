import type { Socket } from 'node:net'
import { outboundError } from './outbound-error.js'

/** Maximum bytes on the wire of the response to one request. */
export const maxResponseBytes = 8 * 1024 * 1024

/**
 * Returns a function to call with the size of each received chunk. It destroys the connection if more than
 * `maxResponseBytes` arrive after a write.
 */
export function responseMeter(socket: Socket): (bytes: number) => void {
  let written = -1
  let received = 0
  return (bytes) => {
    if (socket.bytesWritten !== written) {
      written = socket.bytesWritten
      received = 0
    }
    received += bytes
    if (received > maxResponseBytes) socket.destroy(outboundError('protocol'))
  }
}

/** Counts bytes when they arrive, before they are read: a `data` listener would start the stream before it has a reader. */
export function limitResponses(socket: Socket): Socket {
  const meter = responseMeter(socket)
  const push = socket.push.bind(socket)
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk !== null) meter(chunk.length)
    return push(chunk, encoding)
  }
  return socket
}
