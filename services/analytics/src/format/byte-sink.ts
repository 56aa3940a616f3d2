/** A growing buffer; bytes from `length` on are undefined. */
export interface ByteSink {
  bytes: Buffer
  length: number
}

export const byteSink = (size: number): ByteSink => ({ bytes: Buffer.allocUnsafe(size), length: 0 })

/** Below this number of bytes a loop is faster than a native memory copy. */
const fewBytes = 48

/** Appends the bytes from `from` to `to` (exclusive). */
export function appendBytes(sink: ByteSink, source: Uint8Array, from = 0, to = source.length): void {
  reserve(sink, to - from)
  const { bytes, length } = sink
  if (to - from > fewBytes) bytes.set(source.subarray(from, to), length)
  else for (let at = from, end = length; at < to; at++, end++) bytes[end] = source[at] as number
  sink.length = length + to - from
}

export function appendByte(sink: ByteSink, byte: number): void {
  reserve(sink, 1)
  sink.bytes[sink.length++] = byte
}

/** Doubling would leave nearly half of a part's buffer unused. */
const growth = 1.25

function reserve(sink: ByteSink, count: number): void {
  const needed = sink.length + count
  if (needed <= sink.bytes.length) return
  const larger = Buffer.allocUnsafe(Math.ceil(needed * growth))
  sink.bytes.copy(larger, 0, 0, sink.length)
  sink.bytes = larger
}
