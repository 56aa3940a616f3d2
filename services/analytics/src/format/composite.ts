import { appendBytes, type ByteSink } from './byte-sink.js'

/**
 * A cell of a row as Postgres writes composite values (`(a,"b c",,"")`): the bytes from `from` to `to`, the latter not included.
 * Of one in quotes what stands between them, where quotes and backslashes are doubled. Nothing without quotes is null.
 */
export interface Cell {
  bytes: Uint8Array
  from: number
  to: number
  isQuoted: boolean
}

/** Writes a cell that is not null. */
export type CellWriter = (sink: ByteSink, cell: Cell) => void

export interface LineColumn {
  /** Before a value. */
  before: Uint8Array
  write: CellWriter
  /** In place of null and what is before it. */
  none: Uint8Array
}

/** How rows become the lines of a text format. */
export interface LineFormat {
  columns: readonly LineColumn[]
  end: Uint8Array
}

const [quote, backslash, comma, close] = [0x22, 0x5c, 0x2c, 0x29]

/** Writes rows that follow one another, a line for each, with as many cells as the format has columns. How many there are. */
export function appendLines(
  sink: ByteSink,
  rows: Uint8Array,
  { columns, end, between }: LineFormat & { between: Uint8Array },
): number {
  const cell: Cell = { bytes: rows, from: 0, to: 0, isQuoted: false }
  let count = 0
  for (let at = 0; at < rows.length; at++) {
    if (count++ > 0) appendBytes(sink, between)
    for (const { before, write, none } of columns) {
      at = readCell(cell, at + 1)
      if (isNull(cell)) appendBytes(sink, none)
      else {
        appendBytes(sink, before)
        write(sink, cell)
      }
    }
    appendBytes(sink, end)
  }
  return count
}

export function readCellText({ bytes, from, to, isQuoted }: Cell): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from).toString()
  return isQuoted ? text.replace(/(["\\])\1/g, '$1') : text
}

const isNull = ({ from, to, isQuoted }: Cell) => from === to && !isQuoted

/** Reads the cell that begins at `at`; the place of the comma or bracket behind it. */
function readCell(cell: Cell, at: number): number {
  const { bytes } = cell
  cell.isQuoted = bytes[at] === quote
  cell.from = cell.isQuoted ? at + 1 : at
  cell.to = cell.isQuoted ? findQuotedEnd(bytes, cell.from) : findPlainEnd(bytes, at)
  return cell.isQuoted ? cell.to + 1 : cell.to
}

function findPlainEnd(bytes: Uint8Array, from: number): number {
  let at = from
  while (at < bytes.length && bytes[at] !== comma && bytes[at] !== close) at++
  return at
}

function findQuotedEnd(bytes: Uint8Array, from: number): number {
  let at = from
  for (; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === quote && bytes[at + 1] !== quote) return at
    if (byte === quote || byte === backslash) at++
  }
  return at
}
