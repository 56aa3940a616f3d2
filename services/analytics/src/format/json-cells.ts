import { type ByteSink, put, putByte } from './byte-sink.js'
import { booleanCell, plainCell, timestampCell } from './cells.js'
import type { ColumnType } from './column.js'
import { type Cell, type CellWriter, textOfCell } from './composite.js'

const [space, quote, backslash] = [0x20, 0x22, 0x5c]

interface JsonCell {
  write: CellWriter
  /** The quote before it is put by whoever puts the key. */
  isQuoted: boolean
}

const plain = (write: CellWriter): JsonCell => ({ write, isQuoted: false })
const quoted = (write: CellWriter): JsonCell => ({
  write(sink, cell) {
    write(sink, cell)
    putByte(sink, quote)
  },
  isQuoted: true,
})

const text = quoted((sink: ByteSink, { bytes, from, to, isQuoted }: Cell) => {
  let begin = from
  for (let place = from; place < to; place++) {
    const byte = bytes[place] ?? 0
    if (byte >= space && byte !== quote && byte !== backslash) continue
    put(sink, bytes, begin, place)
    put(sink, escapes[byte] as Uint8Array)
    // What needs an escape in JSON is doubled in what Postgres writes, but for control characters.
    if (isQuoted && byte >= space) place++
    begin = place + 1
  }
  put(sink, bytes, begin, to)
})

/** By character: what JSON has in its place. */
const escapes = Array.from({ length: backslash + 1 }, (_, byte) =>
  Buffer.from(JSON.stringify(String.fromCharCode(byte)).slice(1, -1)),
)

/** Writes values of each type as JSON has them. */
export const jsonCells: Record<ColumnType, JsonCell> = {
  ...{ text, date: quoted(plainCell), timestamp: quoted(timestampCell) },
  ...{ time: quoted(plainCell), local_timestamp: text, interval: text },
  ...{ integer: plain(plainCell), boolean: plain(booleanCell) },
  ...{ bigint: quoted(plainCell), decimal: quoted(plainCell) },
  number: plain((sink, cell) => put(sink, Buffer.from(JSON.stringify(Number(textOfCell(cell)))))),
  json: plain((sink, cell) => put(sink, Buffer.from(textOfCell(cell)))),
}
