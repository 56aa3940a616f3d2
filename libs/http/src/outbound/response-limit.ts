import type { Socket } from 'node:net'
import { outboundError } from './outbound-error.js'

/** What the answer to one request may take on the wire. */
export const maxResponseBytes = 8 * 1024 * 1024

/** Call the result with the size of what arrives: it cuts a connection on which more follows a write than any answer may take. */
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

/** Counts what arrives before it is read: a listener would start the stream before it has a reader. */
export function limitResponses(socket: Socket): Socket {
  const meter = responseMeter(socket)
  const push = socket.push.bind(socket)
  socket.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    if (chunk !== null) meter(chunk.length)
    return push(chunk, encoding)
  }
  return socket
}
