import { parseExact } from '@opsplane/contracts'
import { parse } from 'csv-parse/sync'
import { parquetReadObjects } from 'hyparquet'
import { readSheet } from 'read-excel-file/node'
import { findType } from './columns.js'
import type { Row } from './rows.js'

/** Readers of files by format, using independent libraries; they return rows with values as in the API. */
export const fileReaders: Record<string, (file: Buffer) => Row[] | Promise<Row[]>> = {
  csv: (file) => parse(file, { columns: true, cast: csvCell }),
  ndjson: (file) =>
    file
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => parseExact(line) as Row),
  json: (file) => parseExact(file.toString()) as Row[],
  async xlsx(file) {
    const [header = [], ...rows] = await readSheet(file, { trim: false })
    return rows.map((cells) =>
      byColumn(
        header.map((name, at) => [String(name), cells[at]]),
        xlsxCell,
      ),
    )
  },
  async parquet(file) {
    const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer
    const rows = await parquetReadObjects({ file: bytes, parsers: parquetParsers })
    return rows.map((row) => byColumn(Object.entries(row), parquetCell))
  },
}

/** A Date would lose the microseconds; and the default text decoder would strip a leading byte order mark. */
const parquetParsers = {
  timestampFromMicroseconds: (value: bigint) => value as unknown as Date,
  stringFromBytes: (bytes: Uint8Array) => Buffer.from(bytes).toString(),
}

const byColumn = (
  cells: readonly (readonly [string, unknown])[],
  read: (name: string, cell: unknown) => unknown,
): Row => Object.fromEntries(cells.map(([name, cell]) => [name, cell == null ? null : read(name, cell)]))

const isJson = (name: string) => ['json', 'array'].includes(findType(name))

function csvCell(text: string, { column, quoting }: { column: string | number; quoting: boolean }): unknown {
  const name = String(column)
  if (text === '' && !quoting) return null
  if (isJson(name) || findType(name) === 'integer') return parseExact(text)
  if (findType(name) === 'boolean')
    return parseExact(text.replace(/^[tf]$/, (found) => String(found === 't')))
  return findType(name) === 'float' ? floatOf(Number(text)) : text
}

function xlsxCell(name: string, cell: unknown): unknown {
  if (cell instanceof Date) {
    const text = cell.toISOString()
    return findType(name) === 'date' ? text.slice(0, 10) : text
  }
  return isJson(name) ? parseExact(String(cell)) : cell
}

function parquetCell(name: string, cell: unknown): unknown {
  const type = findType(name)
  if (cell instanceof Date) return cell.toISOString().slice(0, 10)
  if (type === 'timestamp') {
    const micros = BigInt(String(cell))
    const [ms, rest] = [micros / 1_000n, micros % 1_000n]
    const text = new Date(Number(ms)).toISOString()
    return rest === 0n ? text : `${text.slice(0, -1)}${rest}Z`
  }
  if (isJson(name)) return parseExact(String(cell))
  if (type === 'float') return floatOf(Number(cell))
  return typeof cell === 'bigint' ? (type === 'integer' ? Number(cell) : String(cell)) : cell
}

/** Values that JSON numbers cannot represent, such as NaN, are converted to text. */
const floatOf = (value: number): number | string => (Number.isFinite(value) ? value : String(value))
