import { type ByteSink, put, putByte } from './byte-sink.js'
import { booleanCell, integerCell, timestampCell } from './cells.js'
import type { ColumnType } from './column.js'
import { type Cell, type CellWriter, textOfCell } from './composite.js'

const [tab, lineFeed, carriageReturn] = [0x09, 0x0a, 0x0d]
const [quote, apostrophe, comma, backslash] = [0x22, 0x27, 0x2c, 0x5c]
const [plus, minus, equals, at] = [0x2b, 0x2d, 0x3d, 0x40]

/** Writes values of each type as `csvWriter` does. */
export function csvCells({ escapeFormulas }: { escapeFormulas: boolean }): Record<ColumnType, CellWriter> {
  const text: CellWriter = (sink, cell) => {
    const needsQuotes = cell.isQuoted && isSpecial(cell)
    if (needsQuotes) putByte(sink, quote)
    if (escapeFormulas && beginsFormula(cell)) putByte(sink, apostrophe)
    putContent(sink, cell)
    if (needsQuotes) putByte(sink, quote)
  }
  return {
    ...{ text, json: text, date: integerCell, timestamp: timestampCell },
    ...{ integer: integerCell, boolean: booleanCell },
    number: (sink, cell) => put(sink, Buffer.from(String(Number(textOfCell(cell))))),
  }
}

/** Whether it is empty, or has what means something in csv. */
function isSpecial({ bytes, from, to }: Cell): boolean {
  for (let place = from; place < to; place++) {
    const byte = bytes[place]
    if (byte === comma || byte === quote || byte === lineFeed || byte === carriageReturn) return true
  }
  return from === to
}

/** Quotes are doubled, as they are in csv, but so are backslashes. */
function putContent(sink: ByteSink, { bytes, from, to, isQuoted }: Cell): void {
  let begin = from
  if (isQuoted)
    for (let place = from; place < to; place++) {
      if (bytes[place] !== backslash) continue
      put(sink, bytes, begin, place)
      begin = ++place
    }
  put(sink, bytes, begin, to)
}

const starts = new Set([equals, plus, minus, at, tab, lineFeed, carriageReturn])
/** The last bytes of what is as wide as a Chinese character: ＝ ＋ － ＠ are EF BC 9D, 8B, 8D and A0. */
const fullWidth = new Set([0x9d, 0x8b, 0x8d, 0xa0])

/** Whether a spreadsheet would take it for a formula. */
function beginsFormula({ bytes, from, to }: Cell): boolean {
  const first = bytes[from]
  if (first === undefined || from === to) return false
  if (first !== 0xef) return starts.has(first)
  return bytes[from + 1] === 0xbc && fullWidth.has(bytes[from + 2] ?? 0)
}
