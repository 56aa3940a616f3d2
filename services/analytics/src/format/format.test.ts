import { describe, expect, it, test } from '@jest/globals'
import { type ExportFormat, exportFormats } from '@opsplane/contracts'
import { seededRandom } from '@opsplane/testing'
import { parse } from 'csv-parse/sync'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import readWorkbook, { readSheet } from 'read-excel-file/node'
import type { Column, Row } from './column.js'
import { openWriter } from './formats.js'
import { FileLimitError, type FormatWriter } from './writer.js'
import { xlsxWriter } from './xlsx.js'
import { zipWriter } from './zip.js'

const columns: Column[] = [
  { name: 'id', label: 'Id', type: 'text' },
  { name: 'count', label: 'Count', type: 'integer' },
  { name: 'share', label: 'Share', type: 'number' },
  { name: 'open', label: 'Open', type: 'boolean' },
  { name: 'day', label: 'Day', type: 'date' },
  { name: 'at', label: 'At', type: 'timestamp' },
  { name: 'labels', label: 'Labels', type: 'json' },
]
const texts = [
  'plain',
  '',
  'a,b',
  'say "hi"',
  'two\nlines',
  'ä 漢字 🙂',
  '<b> & "c"',
  '\u0001_x0041_',
  ' padded ',
]

const rowOf = (at: number): Row =>
  at % 11 === 10
    ? columns.map(({ name }) => (name === 'id' ? `id ${at}` : null))
    : [
        `${texts[at % texts.length]}`,
        at * 1_000_003,
        at / 8 - 3,
        at % 2 === 0,
        `2026-0${1 + (at % 9)}-15`,
        `2026-03-0${1 + (at % 9)}T10:20:30.125Z`,
        { tags: [at, `t${at}`] },
      ]
const rows = Array.from({ length: 500 }, (_, at) => rowOf(at))

/** The whole file; `parts` are the numbers of rows after which it goes on in another writer. */
async function written(format: ExportFormat, given: readonly Row[], parts: readonly number[] = []) {
  const open = (state?: ReturnType<FormatWriter['state']>) =>
    openWriter({ format, escapeFormulas: true }, columns, state)
  const chunks: Uint8Array[] = []
  let writer = open()
  let from = 0
  for (const until of [...parts, given.length]) {
    for (; from < until; from += 60)
      chunks.push(await writer.write(given.slice(from, Math.min(from + 60, until))))
    from = until
    if (until === given.length) break
    chunks.push(await writer.flush())
    writer = open(JSON.parse(JSON.stringify(writer.state())))
  }
  chunks.push(await writer.end())
  return Buffer.concat(chunks)
}

/** The rows of a file as another library reads them, in the words of this one. */
const readers: Record<ExportFormat, (file: Buffer) => Promise<unknown[][]> | unknown[][]> = {
  csv: (file) => (parse(file, { columns: true, cast: castCsv }) as Record<string, unknown>[]).map(valuesOf),
  ndjson: (file) =>
    file
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => valuesOf(JSON.parse(line))),
  json: (file) => (JSON.parse(file.toString()) as Record<string, unknown>[]).map(valuesOf),
  xlsx: async (file) => {
    const [header, ...read] = await readSheet(file, { trim: false })
    expect(header).toEqual(columns.map(({ label }) => label))
    return read.map((cells) => cells.map((value, at) => fromWorkbook(value, columns[at]?.type ?? 'text')))
  },
  parquet: async (file) => {
    const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer
    const read = await parquetReadObjects({ file: bytes })
    return read.map((row) => columns.map(({ name, type }) => fromParquet(row[name], type)))
  },
}
const valuesOf = (row: Record<string, unknown>) => columns.map(({ name }) => row[name])

function castCsv(text: string, { column, quoting }: { column: string | number; quoting: boolean }) {
  const type = columns.find(({ name }) => name === column)?.type ?? 'text'
  if (text === '' && !quoting) return null
  if (type === 'integer' || type === 'number') return Number(text)
  if (type === 'boolean') return text === 'true'
  return type === 'json' ? JSON.parse(text) : text
}

function fromWorkbook(value: unknown, type: Column['type']) {
  if (value instanceof Date)
    return type === 'date'
      ? value.toISOString().slice(0, 10)
      : new Date(Math.round(value.getTime())).toISOString()
  return type === 'json' && typeof value === 'string' ? JSON.parse(value) : value
}

function fromParquet(value: unknown, type: Column['type']) {
  if (value instanceof Date) return type === 'date' ? value.toISOString().slice(0, 10) : value.toISOString()
  if (typeof value === 'bigint') return Number(value)
  return type === 'json' && typeof value === 'string' ? JSON.parse(value) : value
}

/** What a format cannot tell apart, or reads otherwise. */
const asRead = (format: ExportFormat, row: Row) =>
  format === 'xlsx' ? row.map((value) => (value === '' ? null : value)) : [...row]

describe.each([...exportFormats])('%s', (format) => {
  it('comes back as it was', async () => {
    const read = await readers[format](await written(format, rows))
    expect(read).toEqual(rows.map((row) => asRead(format, row)))
  })

  it('is the same rows when it was continued elsewhere, wherever that was', async () => {
    const random = seededRandom(15)
    const parts = [...new Set(Array.from({ length: 5 }, () => Math.floor(random() * rows.length)))].sort(
      (a, b) => a - b,
    )
    const file = await written(format, rows, parts)
    expect(await readers[format](file)).toEqual(rows.map((row) => asRead(format, row)))
    if (format !== 'parquet' && format !== 'xlsx') expect(file).toEqual(await written(format, rows))
  })

  it('without rows is a whole file', async () => {
    expect(await readers[format](await written(format, []))).toEqual([])
  })
})

test('csv keeps what looks like a formula from being one, unless it is asked not to', async () => {
  const column: Column[] = [{ name: 'a', label: 'A', type: 'text' }]
  const evil = ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '＝1', 'a=1', '']
  const csv = async (escapeFormulas: boolean) => {
    const writer = openWriter({ format: 'csv', escapeFormulas }, column)
    const file = Buffer.concat([await writer.write(evil.map((text) => [text])), await writer.end()])
    return (parse(file) as string[][]).slice(1).flat()
  }
  expect(await csv(true)).toEqual([
    ...["'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\t=1", "'\r=1", "'＝1", 'a=1', ''],
  ])
  expect(await csv(false)).toEqual(evil)
})

test('csv tells null from an empty text, and leaves negative numbers alone', async () => {
  const writer = openWriter({ format: 'csv', escapeFormulas: true }, columns)
  const text = Buffer.from(await writer.write([['', -5, -0.5, null, null, null, null]])).toString()
  expect(text.split('\r\n')[1]).toBe('"",-5,-0.5,,,,')
})

test('numbers beyond 2^53 keep all their digits', async () => {
  const column: Column[] = [{ name: 'n', label: 'N', type: 'integer' }]
  const big = '9007199254740993'
  const text = async (format: ExportFormat) => {
    const writer = openWriter({ format, escapeFormulas: true }, column)
    return Buffer.concat([await writer.write([[BigInt(big)], [big]]), await writer.end()])
  }
  expect((await text('csv')).toString()).toBe(`n\r\n${big}\r\n${big}\r\n`)
  expect((await text('ndjson')).toString()).toBe(`{"n":${big}}\n{"n":${big}}\n`)
  expect(await readSheet(await text('xlsx'))).toEqual([['N'], [big], [big]])
  const file = await text('parquet')
  const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer
  expect(await parquetReadObjects({ file: bytes })).toEqual([{ n: BigInt(big) }, { n: BigInt(big) }])
})

test('a workbook begins another sheet where one is full, and says what it has cut', async () => {
  const writer = xlsxWriter(columns.slice(0, 2), undefined, 100)
  const first = await writer.write(rows.slice(0, 150).map((row) => row.slice(0, 2)))
  const restored = xlsxWriter(columns.slice(0, 2), JSON.parse(JSON.stringify(writer.state())), 100)
  const second = await restored.write([
    ...rows.slice(150, 249).map((row) => row.slice(0, 2)),
    ['x'.repeat(40_000), 1],
  ])
  const file = Buffer.concat([first, second, await restored.end()])
  expect((await readWorkbook(file)).map(({ sheet }) => sheet)).toEqual(['Data', 'Data 2', 'Data 3'])
  const third = await readSheet(file, 3)
  expect([third.length, String(third.at(-1)?.[0]).length]).toEqual([51, 32_767])
  expect(restored.warnings()).toEqual([expect.stringContaining('1 texts were longer')])
})

test('parquet has statistics of each row group, by which readers skip', async () => {
  const file = await written('parquet', rows, [200])
  const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer
  const { row_groups: groups, num_rows: count } = parquetMetadata(bytes)
  expect(count).toBe(500n)
  expect(groups.map(({ num_rows }) => num_rows)).toEqual([200n, 300n])
  expect(groups[1]?.columns[1]?.meta_data?.statistics).toMatchObject({ min_value: 200n * 1_000_003n })
})

test('an archive that has no room for more is refused, not broken', async () => {
  const zip = zipWriter({ offset: 0xffff_ff00, done: [], open: null })
  zip.begin('a')
  await expect(zip.add('x'.repeat(100_000) + Math.random())).rejects.toThrow(FileLimitError)
})
