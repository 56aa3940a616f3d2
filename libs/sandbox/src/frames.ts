const headerBytes = 4

/** What a child says when it has done a part of a request, so that it is known what it died of. */
export const partDone = ''

/** A message as it crosses between a process and its child: its length in bytes (32 bits, little endian), and UTF-8. */
export function frame(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafe(headerBytes + length)
  bytes.writeUInt32LE(length)
  bytes.write(text, headerBytes, 'utf8')
  return bytes
}

/** The length a frame says it has is more than may be sent. */
class FrameTooLargeError extends Error {}

/** Puts frames together again. The function takes what has arrived, and gives back the messages that are complete by then. */
export function frameReader(maxBytes: number): (chunk: Buffer) => string[] {
  let pending: Buffer[] = []
  let [held, wanted] = [0, headerBytes]
  return (chunk) => {
    const complete: string[] = []
    pending.push(chunk)
    held += chunk.length
    while (held >= wanted) {
      const bytes: Buffer = pending.length === 1 && pending[0] ? pending[0] : Buffer.concat(pending)
      const length = bytes.readUInt32LE()
      if (length > maxBytes) throw new FrameTooLargeError(`a frame of ${length} bytes`)
      wanted = headerBytes + length
      pending = [bytes]
      if (held < wanted) break
      complete.push(bytes.toString('utf8', headerBytes, wanted))
      pending = held > wanted ? [bytes.subarray(wanted)] : []
      held -= wanted
      wanted = headerBytes
    }
    return complete
  }
}
