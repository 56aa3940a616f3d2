import { appendByte, appendBytes, type ByteSink } from './byte-sink.js'
import { booleanCell, plainCell, timestampCell } from './cells.js'
import type { ColumnType } from './column.js'
import { type Cell, type CellWriter, readCellText } from './composite.js'

const [space, quote, backslash] = [0x20, 0x22, 0x5c]

interface JsonCell {
  write: CellWriter
  /** The opening quote is written with the key. */
  isQuoted: boolean
}

const plain = (write: CellWriter): JsonCell => ({ write, isQuoted: false })
const quoted = (write: CellWriter): JsonCell => ({
  write(sink, cell) {
    write(sink, cell)
    appendByte(sink, quote)
  },
  isQuoted: true,
})

const text = quoted((sink: ByteSink, { bytes, from, to, isQuoted }: Cell) => {
  let begin = from
  for (let place = from; place < to; place++) {
    const byte = bytes[place] ?? 0
    if (byte >= space && byte !== quote && byte !== backslash) continue
    appendBytes(sink, bytes, begin, place)
    appendBytes(sink, escapes[byte] as Uint8Array)
    // Postgres doubles the characters that need an escape in JSON, except for control characters.
    if (isQuoted && byte >= space) place++
    begin = place + 1
  }
  appendBytes(sink, bytes, begin, to)
})

/** JSON escape of each character code. */
const escapes = Array.from({ length: backslash + 1 }, (_, byte) =>
  Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)),
)

/** Cell writers for each type, producing JSON values. */
export const jsonCells: Record<ColumnType, JsonCell> = {
  ...{ text, date: quoted(plainCell), timestamp: quoted(timestampCell) },
  ...{ time: quoted(plainCell), local_timestamp: text, interval: text },
  ...{ integer: plain(plainCell), boolean: plain(booleanCell) },
  ...{ bigint: quoted(plainCell), decimal: quoted(plainCell) },
  number: plain((sink, cell) => appendBytes(sink, Buffer.from(JSON.stringify(Number(readCellText(cell)))))),
  json: plain((sink, cell) => appendBytes(sink, Buffer.from(readCellText(cell)))),
}
