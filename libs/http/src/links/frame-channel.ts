import type { Duplex } from 'node:stream'
import { encodeFrame, type Frame, type FrameKind, frameReader } from './frames.js'

export type SendFrame = (kind: FrameKind, feed: number, payload?: string | Uint8Array) => void

export interface FrameChannelOptions {
  /** Bytes received together with the response to the upgrade. */
  head: Buffer
  maxBytes: number
  onFrame(frame: Frame): void
  /** Called for bytes that are no frame or cannot be handled. */
  onInvalid(error: Error): void
}

/** Reads frames from a connection, and writes all frames of one event loop turn together. */
export function frameChannel(socket: Duplex, options: FrameChannelOptions): SendFrame {
  const read = frameReader(options.maxBytes, options.onFrame)
  const onData = (chunk: Buffer) => {
    try {
      read(chunk)
    } catch (error) {
      options.onInvalid(error as Error)
    }
  }
  let isCorked = false
  const uncork = () => {
    isCorked = false
    socket.uncork()
  }
  socket.on('data', onData)
  // Read in a later turn, because `onFrame` may send.
  if (options.head.length > 0) socket.unshift(options.head)
  return (kind, feed, payload) => {
    if (socket.destroyed) return
    if (!isCorked) {
      isCorked = true
      socket.cork()
      setImmediate(uncork)
    }
    socket.write(encodeFrame(kind, feed, payload))
  }
}
