import { appendByte, appendBytes } from './byte-sink.js'
import { type CellWriter, readCellText } from './composite.js'
import { toIsoInstant } from './instant.js'

/** Writes a value that needs no escaping in any format, verbatim. */
export const plainCell: CellWriter = (sink, { bytes, from, to }) => appendBytes(sink, bytes, from, to)

const [yes, no] = [Buffer.from('true'), Buffer.from('false')]

/** Postgres writes booleans as `t` and `f`. */
export const booleanCell: CellWriter = (sink, { bytes, from }) =>
  appendBytes(sink, bytes[from] === 0x74 ? yes : no)

const zeros = Buffer.from('000')
const [space, plus, dot, zero, letterT, letterZ] = [0x20, 0x2b, 0x2e, 0x30, 0x54, 0x5a]
const wholeSeconds = '2026-03-01 10:20:30+00'.length

/** Postgres writes instants in UTC as `2026-03-01 10:20:30.12+00`, with as many fractional digits as needed. */
export const timestampCell: CellWriter = (sink, cell) => {
  const { bytes, from, to } = cell
  const digits = Math.max(to - from - wholeSeconds - 1, 0)
  const isUtc = bytes[to - 3] === plus && bytes[to - 2] === zero && bytes[to - 1] === zero
  if (digits > 3 || !isUtc || bytes[from + 10] !== space)
    return appendBytes(sink, Buffer.from(toIsoInstant(readCellText(cell))))
  appendBytes(sink, bytes, from, from + 10)
  appendByte(sink, letterT)
  appendBytes(sink, bytes, from + 11, from + 19)
  appendByte(sink, dot)
  appendBytes(sink, bytes, from + 20, from + 20 + digits)
  appendBytes(sink, zeros, digits)
  appendByte(sink, letterZ)
}
