import { stringifyExact } from '@opsplane/contracts'
import type { Column, Row } from './column.js'
import type { LineFormat } from './composite.js'
import { jsonCells } from './json-cells.js'
import { type FormatWriter, textWriter, type WriterState } from './writer.js'

/** A row as a JSON object, its values as the API has them: what a number of JSON may lose is a text. */
function objectLine(columns: readonly Column[]): (row: Row) => string {
  const keys = columns.map(({ name }, at) => `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  return (row) => {
    let text = ''
    for (let at = 0; at < keys.length; at++) text += keys[at] + stringifyExact(row[at] ?? null)
    return text === '' ? '{}' : `${text}}`
  }
}

/** The same of rows as Postgres writes them. */
const objectLines = (columns: readonly Column[], end: string): LineFormat => ({
  columns: columns.map(({ name, type }, at) => {
    const key = `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`
    const { write, isQuoted } = jsonCells[type]
    return { before: Buffer.from(isQuoted ? `${key}"` : key), write, none: Buffer.from(`${key}null`) }
  }),
  end: Buffer.from(`}${end}`),
})

/** A JSON object a line. */
export function ndjsonWriter(columns: readonly Column[], state?: WriterState): FormatWriter {
  const object = objectLine(columns)
  const lines = objectLines(columns, '\n')
  return textWriter({ first: '', line: (row) => `${object(row)}\n`, lines, between: '', last: '', state })
}

/** One array of objects, an object a line. */
export function jsonWriter(columns: readonly Column[], state?: WriterState): FormatWriter {
  const lines = objectLines(columns, '')
  return textWriter({ first: '[\n', line: objectLine(columns), lines, between: ',\n', last: '\n]\n', state })
}
