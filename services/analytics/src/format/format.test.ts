import { describe, expect, it, test } from '@jest/globals'
import { type ExportFormat, exportFormats, parseExact } from '@opsplane/contracts'
import { seededRandom } from '@opsplane/testing'
import { BigNumber } from 'bignumber.js'
import { parse } from 'csv-parse/sync'
import { parquetMetadata, parquetReadObjects } from 'hyparquet'
import readWorkbook, { readSheet } from 'read-excel-file/node'
import { byteSink } from './byte-sink.js'
import type { Column, ColumnType, Row } from './column.js'
import { openWriter } from './formats.js'
import { FileLimitError, type FormatWriter } from './writer.js'
import { xlsxWriter } from './xlsx.js'
import { zipWriter } from './zip.js'

/** Values of each type as returned by the API, including those that a careless reader or writer would alter. */
const samples: Record<ColumnType, readonly unknown[]> = {
  text: [
    'plain',
    '',
    'a,b;c',
    'say "hi"',
    'two\nlines',
    'ä 漢字 🙂',
    '<b> & "c"',
    '\u0001_x0041_',
    ' padded ',
    '007',
  ],
  integer: [0, -5, 2_147_483_647, 9_007_199_254_740_991, '9007199254740993'],
  bigint: ['0', '-9223372036854775808', '9223372036854775807', '9007199254740993'],
  number: [0, -0.5, 0.1, 0.30000000000000004, 1e21, 5e-324, 1.7976931348623157e308],
  decimal: [
    '0.10',
    '-12.50',
    '2.3',
    '12345678901234567890.123456789012345678',
    '0.000000000000000001',
    '1000',
  ],
  boolean: [true, false],
  date: ['2026-03-15', '1899-12-31', '0001-01-01', '9999-12-31'],
  time: ['00:00:00', '23:59:59.999999'],
  timestamp: [
    '2026-03-01T10:20:30.125Z',
    '2026-03-02T10:00:00.000Z',
    '9999-12-31T23:59:59.999Z',
    '1969-12-31T23:59:59.999Z',
    '2026-03-01T10:20:30.123456Z',
  ],
  local_timestamp: ['2026-03-29T02:30:00', '2026-03-01T10:20:30.123456'],
  interval: ['1 year 2 mons 3 days', '-1 days', '00:00:00.000001'],
  json: [
    { tags: [1, 't'] },
    [],
    'text',
    '123',
    5,
    true,
    parseExact('{"n":12345678901234567890}'),
    ['1.10', null],
  ],
}
const types = Object.keys(samples) as ColumnType[]
const columns: Column[] = types.map((type) => ({ name: type, label: `Of ${type}`, type }))

const rowOf = (at: number): Row =>
  columns.map(({ type }) => (at % 11 === 10 ? null : samples[type][at % samples[type].length]))
const rows = Array.from({ length: 500 }, (_, at) => rowOf(at))

/** Writes the whole file; `parts` are the row counts after which a new writer continues. */
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

/** Reads the rows of a file with a different library and converts them to the representation used here. */
const readers: Record<ExportFormat, (file: Buffer) => Promise<unknown[][]> | unknown[][]> = {
  csv: (file) => (parse(file, { columns: true, cast: castCsv }) as Record<string, unknown>[]).map(valuesOf),
  ndjson: (file) =>
    file
      .toString()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => valuesOf(parseExact(line) as Record<string, unknown>)),
  json: (file) => (parseExact(file.toString()) as Record<string, unknown>[]).map(valuesOf),
  xlsx: async (file) => {
    const [header, ...read] = await readSheet(file, { trim: false })
    expect(header).toEqual(columns.map(({ label }) => label))
    return read.map((cells) => columns.map(({ type }, at) => fromWorkbook(cells[at] ?? null, type)))
  },
  parquet: async (file) => {
    const read = await parquetReadObjects({ file: bytesOf(file), parsers: asMicroseconds })
    return read.map((row) => columns.map(({ name, type }) => fromParquet(row[name], type)))
  },
}
const valuesOf = (row: Record<string, unknown>) => columns.map(({ name }) => row[name])
const bytesOf = (file: Buffer) =>
  file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer
/** A `Date` would be limited to milliseconds. */
const asMicroseconds = { timestampFromMicroseconds: (value: bigint) => value as unknown as Date }

function castCsv(text: string, { column, quoting }: { column: string | number; quoting: boolean }) {
  const type = columns.find(({ name }) => name === column)?.type ?? 'text'
  if (text === '' && !quoting) return null
  if (type === 'integer') return Number.isSafeInteger(Number(text)) ? Number(text) : text
  if (type === 'number') return Number(text)
  if (type === 'boolean') return text === 'true'
  return type === 'json' ? parseExact(text) : text
}

/** A workbook has numbers of 15 digits without trailing zeros, and dates from 1900 on. */
function fromWorkbook(value: unknown, type: ColumnType) {
  if (value instanceof Date) {
    const text = value.toISOString()
    return type === 'date' ? text.slice(0, 10) : text
  }
  if (value === null) return null
  if (type === 'json') return parseExact(String(value))
  return type === 'decimal' || type === 'bigint' ? new BigNumber(String(value)).toFixed() : value
}

function fromParquet(value: unknown, type: ColumnType) {
  if (value instanceof Date) return value.toISOString().slice(0, 10)
  if (type === 'timestamp' && typeof value === 'bigint') {
    const [ms, rest] = [value / 1_000n, value % 1_000n]
    const text = new Date(Number(ms)).toISOString()
    return rest === 0n ? text : text.replace('Z', `${String(rest).padStart(3, '0')}Z`)
  }
  if (type === 'bigint' && typeof value === 'bigint') return String(value)
  if (typeof value === 'bigint') return value > Number.MAX_SAFE_INTEGER ? String(value) : Number(value)
  return type === 'json' && typeof value === 'string' ? parseExact(value) : value
}

/** Normalizes values that a workbook cannot distinguish: an empty text becomes null, and trailing zeros are dropped. */
const asRead = (format: ExportFormat, row: Row) =>
  row.map((value, at) => {
    if (format !== 'xlsx' || value === null) return value
    if (columns[at]?.type === 'decimal') return new BigNumber(String(value)).toFixed()
    return value === '' ? null : value
  })

describe.each([...exportFormats])('%s', (format) => {
  it('can be read back with all values unchanged', async () => {
    const read = await readers[format](await written(format, rows))
    expect(read).toEqual(rows.map((row) => asRead(format, row)))
  })

  it('contains the same rows when new writers continue it at random positions', async () => {
    const random = seededRandom(15)
    const parts = [...new Set(Array.from({ length: 5 }, () => Math.floor(random() * rows.length)))].sort(
      (a, b) => a - b,
    )
    const file = await written(format, rows, parts)
    expect(await readers[format](file)).toEqual(rows.map((row) => asRead(format, row)))
    if (format !== 'parquet' && format !== 'xlsx') expect(file).toEqual(await written(format, rows))
  })

  it('without rows is a valid file', async () => {
    expect(await readers[format](await written(format, []))).toEqual([])
  })
})

test('csv escapes text that looks like a formula, unless escaping is turned off', async () => {
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

test('csv distinguishes null from an empty text, and does not escape negative numbers', async () => {
  const writer = openWriter({ format: 'csv', escapeFormulas: true }, columns)
  const given = { text: '', integer: -5, number: -0.5, interval: '-1 days', json: -1 }
  const row = columns.map(({ type }) => given[type as keyof typeof given] ?? null)
  const text = Buffer.from(await writer.write([row])).toString()
  expect(text.split('\r\n')[1]).toBe('"",-5,,-0.5,,,,,,,-1 days,-1')
})

test.each([
  [';', false, 'text;decimal\r\n"a;b";1.50\r\na,b;2\r\n'],
  ['\t', true, '\ufefftext\tdecimal\r\na;b\t1.50\r\na,b\t2\r\n'],
] as const)(
  'csv uses the delimiter %j and a byte order mark when requested',
  async (delimiter, bom, wanted) => {
    const some = columns.filter(({ type }) => type === 'text' || type === 'decimal')
    const writer = openWriter({ format: 'csv', escapeFormulas: true, delimiter, bom }, some)
    const given = [
      ['a;b', '1.50'],
      ['a,b', '2'],
    ]
    expect(Buffer.concat([await writer.write(given), await writer.end()]).toString()).toBe(wanted)
    const sink = byteSink(64)
    const other = openWriter({ format: 'csv', escapeFormulas: true, delimiter, bom }, some)
    other.writeComposites?.(sink, Buffer.from('(a;b,1.50)("a,b",2)'))
    expect(sink.bytes.subarray(0, sink.length).toString()).toBe(wanted)
  },
)

test('parquet writes null for values that it cannot represent, and adds a warning', async () => {
  const writer = openWriter({ format: 'parquet', escapeFormulas: true }, columns)
  const beyond = { date: 'infinity', timestamp: '0044-03-15 12:00:00+00 BC', integer: '9223372036854775808' }
  const row = columns.map(({ type }) => beyond[type as keyof typeof beyond] ?? null)
  const file = Buffer.concat([await writer.write([row]), await writer.end()])
  expect(await readers.parquet(file)).toEqual([columns.map(() => null)])
  expect(writer.warnings()).toEqual([expect.stringMatching(/^3 values/)])
})

test('a workbook starts another sheet when one is full, and warns about truncated texts', async () => {
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

test('parquet has statistics for each row group, so that readers can skip it', async () => {
  const file = await written('parquet', rows, [200])
  const bytes = file.buffer.slice(file.byteOffset, file.byteOffset + file.length) as ArrayBuffer
  const { row_groups: groups, num_rows: count } = parquetMetadata(bytes)
  expect(count).toBe(500n)
  expect(groups.map(({ num_rows }) => num_rows)).toEqual([200n, 300n])
  expect(groups[1]?.columns[1]?.meta_data?.statistics).toMatchObject({ min_value: -5n })
})

test('a zip archive rejects content beyond its size limit with FileLimitError', async () => {
  const zip = zipWriter({ offset: 0xffff_ff00, done: [], open: null })
  zip.begin('a')
  await expect(zip.add('x'.repeat(100_000) + Math.random())).rejects.toThrow(FileLimitError)
})
