import {
  ApiError,
  type CsvDelimiter,
  ExactNumber,
  type ImportFormat,
  parseExact,
  type TableState,
} from '@opsplane/contracts'
import { readJsonText } from '@opsplane/http'
import { buildFields, type Field, isWritable } from '../row/fields.js'
import { UnreadableValue } from '../row/values.js'
import {
  type CsvCell,
  type CsvRecord,
  csvRecords,
  maxLineLength,
  UnreadableFileError,
} from './csv-records.js'

/**
 * One row of a file: its columns as JSON values, or the reason it cannot be parsed. Lines
 * count from 1, including a CSV header.
 */
export type FileRow = { line: number; characters: number } & (
  | { given: Record<string, unknown> }
  | { problem: string }
)

type Read = { given: Record<string, unknown> } | { problem: string }

/** Same limit as for the keys of a JSON object. Each name in a header costs time for every line. */
const maxNames = 2_000
const batchBounds = { rows: 500, characters: 8_388_608 }

export interface FileForm {
  format: ImportFormat
  /** Used for CSV only. */
  delimiter: CsvDelimiter
}

/** The rows of a file, streamed. Throws UnreadableFileError. */
export function readRows(
  { format, delimiter }: FileForm,
  table: TableState,
  parts: AsyncIterable<Buffer>,
): AsyncIterable<FileRow> {
  return format === 'csv' ? csvRows(table, csvRecords(parts, delimiter)) : jsonRows(parts)
}

/** The first record names the columns. Names of built-in fields, such as the version, are allowed and ignored. */
async function* csvRows(table: TableState, records: AsyncIterable<CsvRecord>): AsyncIterable<FileRow> {
  const fields = buildFields(table)
  let names: readonly string[] | undefined
  for await (const { line, cells } of records) {
    if (names === undefined) names = header(cells)
    else yield { line, ...csvRecord(fields, names, cells) }
  }
}

function header(cells: readonly CsvCell[]): readonly string[] {
  if (cells.length > maxNames)
    throw new UnreadableFileError(`The file names ${cells.length} columns; there may be ${maxNames}.`)
  const names = cells.map((cell) => (cell ?? '').trim())
  const second = names.findIndex((name, index) => names.indexOf(name) < index)
  const twice = names[second]
  if (twice !== undefined)
    throw new UnreadableFileError(
      `The header names ${JSON.stringify(twice)} twice, in cells ${names.indexOf(twice) + 1} and ${second + 1}: give each column once.`,
    )
  return names
}

function csvRecord(
  fields: ReadonlyMap<string, Field>,
  names: readonly string[],
  cells: readonly CsvCell[],
): Read & { characters: number } {
  const characters = cells.reduce((sum, cell) => sum + (cell?.length ?? 0), 0)
  if (cells.length > names.length)
    return { problem: `has ${cells.length} cells, and the header ${names.length}`, characters: 0 }
  const values: Record<string, unknown> = {}
  for (const [index, name] of names.entries()) {
    const field = fields.get(name)
    if (field && !(field.definition && isWritable(field.definition))) continue
    const cell = cells[index] ?? null
    if (field) {
      const value = cellValue(field, cell)
      if (value !== undefined) values[name] = value
    } else values[name] = cell ?? ''
  }
  return { given: values, characters }
}

/**
 * An empty unquoted cell means the default or null, and is rejected if the column requires a value. An empty quoted
 * cell is an empty text.
 */
function cellValue({ kind, nullable, definition }: Field, cell: CsvCell): unknown {
  if (cell === null || (cell === '' && kind !== 'text'))
    return definition?.default === null && nullable ? null : undefined
  switch (kind) {
    case 'integer':
      return /^[+-]?\d+$/.test(cell.trim()) ? Number(cell) : cell
    case 'float':
      return floatOf(cell.trim())
    case 'boolean':
      return booleans[cell.trim().toLowerCase()] ?? cell
    case 'json':
    case 'array':
      return jsonOf(cell)
    case 'text':
    case 'enum':
      return cell
    default:
      return cell.trim()
  }
}

/** Parses a number; a number that a double cannot represent is left for the column to reject. */
function floatOf(text: string): unknown {
  const [written, sign, whole, fraction, exponent = ''] =
    /^([+-]?)(?=\.?\d)0*(\d*)(?:\.(\d*))?([eE][+-]?\d+)?$/.exec(text) ?? []
  if (written === undefined) return text
  return parseExact(`${sign === '-' ? sign : ''}${whole || '0'}${fraction ? `.${fraction}` : ''}${exponent}`)
}

const booleans: Record<string, boolean> = {
  true: true,
  t: true,
  yes: true,
  1: true,
  false: false,
  f: false,
  no: false,
  0: false,
}

/**
 * Rejects a cell that is not valid JSON, instead of storing it as a text; also JSON beyond
 * the limits of a request body.
 */
function jsonOf(cell: string): unknown {
  try {
    return readJsonText(cell)
  } catch (error) {
    return new UnreadableValue(jsonProblem(error))
  }
}

function jsonProblem(error: unknown): string {
  const [detail] = error instanceof ApiError ? error.details : []
  return detail?.message ?? 'is no JSON'
}

async function* jsonRows(parts: AsyncIterable<Buffer>): AsyncIterable<FileRow> {
  let line = 0
  for await (const text of linesOf(parts)) {
    line++
    if (text.trim() !== '') yield { line, characters: text.length, ...jsonRecord(text) }
  }
}

function jsonRecord(text: string): Read {
  try {
    const value = readJsonText(text)
    const isNumber = value instanceof ExactNumber
    if (typeof value === 'object' && value !== null && !Array.isArray(value) && !isNumber)
      return { given: withoutOwn({ ...value }) }
  } catch (error) {
    return { problem: jsonProblem(error) }
  }
  return { problem: 'is no JSON object' }
}

/** Removes the built-in fields that an export adds. */
function withoutOwn({
  id: _,
  version: __,
  createdAt: ___,
  updatedAt: ____,
  ...given
}: Record<string, unknown>) {
  return given
}

/** Groups rows into batches; the batches of a file are the same each time it is read. */
export async function* batchRows(rows: AsyncIterable<FileRow>): AsyncIterable<FileRow[]> {
  let batch: FileRow[] = []
  let characters = 0
  for await (const row of rows) {
    batch.push(row)
    characters += row.characters
    if (batch.length < batchBounds.rows && characters < batchBounds.characters) continue
    yield batch
    batch = []
    characters = 0
  }
  if (batch.length > 0) yield batch
}

async function* linesOf(parts: AsyncIterable<Buffer>): AsyncIterable<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const part of parts) {
    rest += decoder.decode(part, { stream: true })
    const lines = rest.split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > maxLineLength) throw new UnreadableFileError('The file has a line of more than 1 MiB.')
    yield* lines
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}
