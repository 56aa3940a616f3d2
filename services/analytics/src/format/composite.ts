import { appendBytes, type ByteSink } from './byte-sink.js'

/**
 * A cell of a row in the format of Postgres composite values (`(a,"b c",,"")`): the bytes from `from` to `to`
 * (exclusive). For a quoted cell, the bytes between the quotes, with quotes and backslashes doubled. An empty unquoted
 * cell is null.
 */
export interface Cell {
  bytes: Uint8Array
  from: number
  to: number
  isQuoted: boolean
}

/** Writes a non-null cell. */
export type CellWriter = (sink: ByteSink, cell: Cell) => void

export interface LineColumn {
  /** Written before a value. */
  before: Uint8Array
  write: CellWriter
  /** Written instead of a null and its prefix. */
  none: Uint8Array
}

/** Describes how rows become lines of a text format. */
export interface LineFormat {
  columns: readonly LineColumn[]
  end: Uint8Array
}

const [quote, backslash, comma, close] = [0x22, 0x5c, 0x2c, 0x29]

/**
 * Writes consecutive rows as lines; each row has as many cells as the format has columns. Returns the
 * number of rows.
 */
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

/** Reads the cell that begins at `at`. Returns the position of the comma or closing parenthesis after it. */
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
