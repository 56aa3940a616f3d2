import { type Column, type Row, textOf } from './column.js'
import { csvCells } from './csv-cells.js'
import { type FormatWriter, textWriter, type WriterState } from './writer.js'

/** What spreadsheets take for the beginning of a formula, full-width forms included. */
const formulaStart = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/
const needsQuotes = /[",\r\n]/

export interface CsvOptions {
  /**
   * Texts that a spreadsheet would take for a formula get an apostrophe in front, so that opening the file runs nothing. Off
   * only for programs, which then get each text as it is.
   */
  escapeFormulas: boolean
}

/** RFC 4180 in UTF-8 with a header. Null is nothing, an empty text is `""`. */
export function csvWriter(
  columns: readonly Column[],
  { escapeFormulas }: CsvOptions,
  state?: WriterState,
): FormatWriter {
  const cell = (text: string): string => {
    const safe = escapeFormulas && formulaStart.test(text) ? `'${text}` : text
    return safe === '' || needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }
  const free = columns.map(({ type }) => type === 'text' || type === 'json')
  const line = (row: Row): string => {
    let text = ''
    for (let at = 0; at < free.length; at++) {
      if (at > 0) text += ','
      const value = row[at]
      if (value === null || value === undefined) continue
      text += free[at] ? cell(textOf(value)) : String(value)
    }
    return `${text}\r\n`
  }
  const first = `${columns.map(({ name }) => cell(name)).join(',')}\r\n`
  const cells = csvCells({ escapeFormulas })
  const lines = {
    columns: columns.map(({ type }, at) => ({
      before: Buffer.from(at === 0 ? '' : ','),
      write: cells[type],
      none: Buffer.from(at === 0 ? '' : ','),
    })),
    end: Buffer.from('\r\n'),
  }
  return textWriter({ first, line, lines, between: '', last: '', state })
}
