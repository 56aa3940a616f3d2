import { stringifyExact } from '@opsplane/contracts'
import type { Column, Row } from './column.js'
import type { LineFormat } from './composite.js'
import { jsonCells } from './json-cells.js'
import { type FormatWriter, textWriter, type WriterState } from './writer.js'

/**
 * Writes a row as a JSON object with the values as in the API: numbers whose precision JSON could lose are
 * strings.
 */
function objectLine(columns: readonly Column[]): (row: Row) => string {
  const keys = columns.map(({ name }, at) => `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  return (row) => {
    let text = ''
    for (let at = 0; at < keys.length; at++) text += keys[at] + stringifyExact(row[at] ?? null)
    return text === '' ? '{}' : `${text}}`
  }
}

/** Describes the same objects for rows in the Postgres composite format. */
const objectLines = (columns: readonly Column[], end: string): LineFormat => ({
  columns: columns.map(({ name, type }, at) => {
    const key = `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`
    const { write, isQuoted } = jsonCells[type]
    return { before: Buffer.from(isQuoted ? `${key}"` : key), write, none: Buffer.from(`${key}null`) }
  }),
  end: Buffer.from(`}${end}`),
})

/** Writes one JSON object per line. */
export function ndjsonWriter(columns: readonly Column[], state?: WriterState): FormatWriter {
  const object = objectLine(columns)
  const lines = objectLines(columns, '\n')
  return textWriter({ first: '', line: (row) => `${object(row)}\n`, lines, between: '', last: '', state })
}

/** Writes one array with one object per line. */
export function jsonWriter(columns: readonly Column[], state?: WriterState): FormatWriter {
  const lines = objectLines(columns, '')
  return textWriter({ first: '[\n', line: objectLine(columns), lines, between: ',\n', last: '\n]\n', state })
}
