import type { Duplex } from 'node:stream'

/** Writes frames to a connection: those of one turn together. */
export function frameWriter(socket: Duplex): (frame: Buffer) => void {
  let isCorked = false
  const uncork = () => {
    isCorked = false
    socket.uncork()
  }
  return (frame) => {
    if (socket.destroyed) return
    if (!isCorked) {
      isCorked = true
      socket.cork()
      setImmediate(uncork)
    }
    socket.write(frame)
  }
}
