import type { CsvDelimiter } from '@opsplane/contracts'
import { type Column, type ColumnType, formatValue, type Row } from './column.js'
import { csvCells } from './csv-cells.js'
import { type FormatWriter, textWriter, type WriterState } from './writer.js'

/** Characters that spreadsheets interpret as the start of a formula, including full-width forms. */
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
const byteOrderMark = '\ufeff'

export interface CsvOptions {
  /**
   * Prefixes texts that a spreadsheet would interpret as a formula with an apostrophe, so that opening the file
   * executes nothing. Disabled only for files read by programs, which then receive each text unchanged.
   */
  escapeFormulas: boolean
  /** Default: a comma. */
  delimiter?: CsvDelimiter
  /** Starts the file with a byte order mark, from which some spreadsheets recognize UTF-8. */
  bom?: boolean
}

/**
 * Writes RFC 4180 in UTF-8 with a header, except for the chosen delimiter. Null is an empty field, an empty text is
 * `""`.
 */
export function csvWriter(
  columns: readonly Column[],
  { escapeFormulas, delimiter = ',', bom = false }: CsvOptions,
  state?: WriterState,
): FormatWriter {
  const needsQuotes = new RegExp(`["\\r\\n${delimiter}]`)
  const quoted = (text: string): string =>
    text === '' || needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  const cell = (text: string): string => quoted(escapeFormulas && formulaStart.test(text) ? `'${text}` : text)
  // JSON never starts with a formula character, except for the sign of a number.
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
