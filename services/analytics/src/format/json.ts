import { stringifyExact } from '@opsplane/contracts'
import type { Column, Row } from './column.js'
import type { LineFormat } from './composite.js'
import { jsonCells } from './json-cells.js'
import { type FormatWriter, textWriter, type WriterState } from './writer.js'

/** A row as a JSON object: numbers as numbers, as far as JSON has them. */
function objectLine(columns: readonly Column[]): (row: Row) => string {
  const keys = columns.map(({ name }, at) => `${at === 0 ? '{' : ','}${JSON.stringify(name)}:`)
  const isNumeric = columns.map(({ type }) => type === 'integer' || type === 'number')
  return (row) => {
    let text = ''
    for (let at = 0; at < keys.length; at++) text += keys[at] + valueText(row[at], isNumeric[at] === true)
    return text === '' ? '{}' : `${text}}`
  }
}

function valueText(value: unknown, isNumeric: boolean): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'bigint') return String(value)
  if (isNumeric && typeof value === 'string') return jsonNumber.test(value) ? value : 'null'
  return stringifyExact(value) ?? 'null'
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

/** What JSON takes for a number; `NaN` and `Infinity` are none. */
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/

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
