const headerBytes = 4

/** Sent by a child after each part of a request, so that the parent knows which part made it fail. */
export const partDone = ''

/** A message between parent and child: its length in bytes (32 bits, little endian), and its text in UTF-8. */
export function frame(text: string): Buffer {
  const length = Buffer.byteLength(text)
  const bytes = Buffer.allocUnsafe(headerBytes + length)
  bytes.writeUInt32LE(length)
  bytes.write(text, headerBytes, 'utf8')
  return bytes
}

/** The length in a frame's header exceeds the limit. */
class FrameTooLargeError extends Error {}

/** Reassembles frames. The returned function accepts a chunk of data and returns the messages that it completes. */
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
