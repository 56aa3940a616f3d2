import type { CsvDelimiter } from '@opsplane/contracts'
import { type Column, type ColumnType, formatValue, type Row } from './column.js'
import { csvCells } from './csv-cells.js'
import { type FormatWriter, textWriter, type WriterState } from './writer.js'

/** What spreadsheets take for the beginning of a formula, full-width forms included. */
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
const byteOrderMark = '\ufeff'

export interface CsvOptions {
  /**
   * Texts that a spreadsheet would take for a formula get an apostrophe in front, so that opening the file runs nothing. Off
   * only for programs, which then get each text as it is.
   */
  escapeFormulas: boolean
  /** A comma unless given. */
  delimiter?: CsvDelimiter
  /** Begins the file with the mark by which some spreadsheets know UTF-8. */
  bom?: boolean
}

/** RFC 4180 in UTF-8 with a header, but for the delimiter that is asked for. Null is nothing, an empty text is `""`. */
export function csvWriter(
  columns: readonly Column[],
  { escapeFormulas, delimiter = ',', bom = false }: CsvOptions,
  state?: WriterState,
): FormatWriter {
  const needsQuotes = new RegExp(`["\\r\\n${delimiter}]`)
  const quoted = (text: string): string =>
    text === '' || needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  const cell = (text: string): string => quoted(escapeFormulas && formulaStart.test(text) ? `'${text}` : text)
  // JSON begins with nothing that a spreadsheet takes for a formula, but for the sign of a number.
  const cellOf = (type: ColumnType) => (type === 'text' ? cell : quoted)
  const writers = columns.map(
    ({ type }) =>
      (value: unknown) =>
        cellOf(type)(formatValue(type, value)),
  )
  const line = (row: Row): string => {
    let text = ''
    for (let at = 0; at < writers.length; at++) {
      if (at > 0) text += delimiter
      const value = row[at]
      if (value !== null && value !== undefined) text += writers[at]?.(value)
    }
    return `${text}\r\n`
  }
  const header = columns.map(({ name }) => cell(name)).join(delimiter)
  const first = `${bom ? byteOrderMark : ''}${header}\r\n`
  const cells = csvCells({ escapeFormulas, delimiter })
  const lines = {
    columns: columns.map(({ type }, at) => ({
      before: Buffer.from(at === 0 ? '' : delimiter),
      write: cells[type],
      none: Buffer.from(at === 0 ? '' : delimiter),
    })),
    end: Buffer.from('\r\n'),
  }
  return textWriter({ first, line, lines, between: '', last: '', state })
}
