import type { CsvDelimiter } from '@opsplane/contracts'
import { appendByte, appendBytes, type ByteSink } from './byte-sink.js'
import { booleanCell, plainCell, timestampCell } from './cells.js'
import type { ColumnType } from './column.js'
import type { Cell, CellWriter } from './composite.js'

const [tab, lineFeed, carriageReturn] = [0x09, 0x0a, 0x0d]
const [quote, apostrophe, comma, backslash] = [0x22, 0x27, 0x2c, 0x5c]
const [plus, minus, equals, at] = [0x2b, 0x2d, 0x3d, 0x40]

/** Cell writers for each type, with the same output as `csvWriter`. */
export function csvCells({
  escapeFormulas,
  delimiter,
}: {
  escapeFormulas: boolean
  delimiter: CsvDelimiter
}): Record<ColumnType, CellWriter> {
  const separator = delimiter.charCodeAt(0)
  const free =
    (mayBeFormula: boolean): CellWriter =>
    (sink, cell) => {
      const needsQuotes = (cell.isQuoted || separator !== comma) && isSpecial(cell, separator)
      if (needsQuotes) appendByte(sink, quote)
      if (mayBeFormula && beginsFormula(cell)) appendByte(sink, apostrophe)
      appendContent(sink, cell)
      if (needsQuotes) appendByte(sink, quote)
    }
  const plain = { integer: plainCell, bigint: plainCell, number: plainCell, decimal: plainCell }
  const ofClocks = { date: plainCell, time: plainCell, local_timestamp: plainCell, interval: free(false) }
  return {
    ...{ ...plain, ...ofClocks, boolean: booleanCell, timestamp: timestampCell },
    ...{ text: free(escapeFormulas), json: free(false) },
  }
}

/** Whether the cell is empty or contains a character with a meaning in CSV. */
function isSpecial({ bytes, from, to }: Cell, separator: number): boolean {
  for (let place = from; place < to; place++) {
    const byte = bytes[place]
    if (byte === separator || byte === quote || byte === lineFeed || byte === carriageReturn) return true
  }
  return from === to
}

/** Appends the cell's content. Postgres doubles quotes, as CSV does, but also backslashes, which are undoubled here. */
function appendContent(sink: ByteSink, { bytes, from, to, isQuoted }: Cell): void {
  let begin = from
  if (isQuoted)
    for (let place = from; place < to; place++) {
      if (bytes[place] !== backslash) continue
      appendBytes(sink, bytes, begin, place)
      begin = ++place
    }
  appendBytes(sink, bytes, begin, to)
}

const starts = new Set([equals, plus, minus, at, tab, lineFeed, carriageReturn])
/** Last bytes of the full-width characters ＝ ＋ － ＠ (EF BC followed by 9D, 8B, 8D or A0). */
const fullWidth = new Set([0x9d, 0x8b, 0x8d, 0xa0])

/** Whether a spreadsheet would interpret the cell as a formula. */
function beginsFormula({ bytes, from, to }: Cell): boolean {
  const first = bytes[from]
  if (first === undefined || from === to) return false
  if (first !== 0xef) return starts.has(first)
  return bytes[from + 1] === 0xbc && fullWidth.has(bytes[from + 2] ?? 0)
}
