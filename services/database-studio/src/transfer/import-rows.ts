import { ApiError, ExactNumber, type ImportFormat, type TableState } from '@opsplane/contracts'
import { readJsonText } from '@opsplane/http'
import { CsvError, parse } from 'csv-parse'
import { type Field, fieldsOf, isOwn } from '../row/fields.js'

/** One row of a file: its columns as JSON has them, or why it cannot be read. Lines count from 1, with the header of CSV. */
export type FileRow = { line: number; characters: number } & (
  | { given: Record<string, unknown> }
  | { problem: string }
)

type Read = { given: Record<string, unknown> } | { problem: string }

/** What makes a whole file unreadable, such as an open quote. */
export class UnreadableFileError extends Error {}

const mostOfLine = 1_048_576
/** As many as keys of an object in JSON. What a header names costs something for each line below it. */
const mostNames = 2_000
const batchBounds = { rows: 500, characters: 8_388_608 }

/** The rows of a file, as its parts are read. Throws UnreadableFileError. */
export function rowsOf(
  format: ImportFormat,
  table: TableState,
  parts: AsyncIterable<Buffer>,
): AsyncIterable<FileRow> {
  return format === 'csv' ? csvRows(table, parts) : jsonRows(parts)
}

/** The first line names the columns. What a record has anyway, such as its version, may be among them and is passed over. */
async function* csvRows(table: TableState, parts: AsyncIterable<Buffer>): AsyncIterable<FileRow> {
  const parser = parse({
    bom: true,
    info: true,
    relax_column_count: true,
    skip_empty_lines: true,
    max_record_size: mostOfLine,
  })
  const feeding = feed(parser, parts)
  const fields = fieldsOf(table)
  let names: readonly string[] | undefined
  try {
    for await (const each of parser as AsyncIterable<{ info: { lines: number }; record: string[] }>) {
      if (names === undefined) names = header(each.record)
      else yield { line: each.info.lines, ...csvRecord(fields, names, each.record) }
    }
  } catch (error) {
    throw error instanceof CsvError ? new UnreadableFileError(`The file is no CSV: ${error.message}`) : error
  } finally {
    parser.destroy()
    await feeding
  }
}

/** Hands the parts on no faster than they are parsed. */
async function feed(parser: ReturnType<typeof parse>, parts: AsyncIterable<Buffer>): Promise<void> {
  try {
    for await (const part of parts) {
      if (parser.destroyed) return
      if (!parser.write(part))
        await new Promise<void>((resolve) => {
          parser.once('drain', resolve)
          parser.once('close', resolve)
        })
    }
    if (!parser.destroyed) parser.end()
  } catch (error) {
    parser.destroy(error as Error)
  }
}

function header(names: readonly string[]): readonly string[] {
  if (names.length > mostNames)
    throw new UnreadableFileError(`The file names ${names.length} columns; there may be ${mostNames}.`)
  return names.map((name) => name.trim())
}

function csvRecord(
  fields: ReadonlyMap<string, Field>,
  names: readonly string[],
  cells: readonly string[],
): Read & { characters: number } {
  const characters = cells.reduce((sum, { length }) => sum + length, 0)
  if (cells.length > names.length)
    return { problem: `has ${cells.length} cells, and the header ${names.length}`, characters: 0 }
  const given: Record<string, unknown> = {}
  for (const [index, name] of names.entries()) {
    const field = fields.get(name)
    if (field && (isOwn(field) || field.definition?.type === 'computed')) continue
    const cell = cells[index] ?? ''
    if (field) {
      const value = cellValue(field, cell)
      if (value !== undefined) given[name] = value
    } else given[name] = cell
  }
  return { given, characters }
}

/** An empty cell is nothing: a default, null, or an empty text where the column must have one. */
function cellValue({ kind, nullable, definition }: Field, cell: string): unknown {
  if (cell === '') {
    if (definition?.default !== null) return undefined
    return kind === 'text' && !nullable ? '' : null
  }
  switch (kind) {
    case 'integer':
      return /^[+-]?\d+$/.test(cell.trim()) ? Number(cell) : cell
    case 'boolean':
      return booleans[cell.trim().toLowerCase()] ?? cell
    case 'json':
      return jsonOr(cell)
    case 'text':
    case 'enum':
      return cell
    default:
      return cell.trim()
  }
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

/** What is no JSON, or beyond what a body may have, is for the column to refuse. */
function jsonOr(cell: string): unknown {
  try {
    return readJsonText(cell)
  } catch {
    return cell
  }
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
    const [detail] = error instanceof ApiError ? error.details : []
    return { problem: detail?.message ?? 'is no JSON' }
  }
  return { problem: 'is no JSON object' }
}

/** What an export has beside the columns. */
function withoutOwn({
  id: _,
  version: __,
  createdAt: ___,
  updatedAt: ____,
  ...given
}: Record<string, unknown>) {
  return given
}

/** Rows that are written together: the same ones each time a file is read. */
export async function* batchesOf(rows: AsyncIterable<FileRow>): AsyncIterable<FileRow[]> {
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
    if (rest.length > mostOfLine) throw new UnreadableFileError('The file has a line of more than 1 MiB.')
    yield* lines
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}
