import { describe, expect, it } from '@jest/globals'
import { type ImportFormat, TableState } from '@opsplane/contracts'
import { assets } from '../record/assets.fixture.js'
import { UnreadableFileError } from './csv-records.js'
import { batchRows, type FileRow, readRows } from './import-rows.js'

const table = TableState.parse(assets)
async function* parts(text: string) {
  yield Buffer.from(text)
}
async function read(format: ImportFormat, text: string): Promise<FileRow[]> {
  const rows: FileRow[] = []
  for await (const row of readRows({ format, delimiter: ',' }, table, parts(text))) rows.push(row)
  return rows
}

describe('a file that is not valid CSV', () => {
  it.each([
    ['{"name":"a"}', 'an opening quote within a cell'],
    ['name\n"a"b\n', 'a closing quote within a cell'],
    ['name\n"a', 'a quote that is never closed'],
  ])('is unreadable: %j has %s', async (text) => {
    await expect(read('csv', text)).rejects.toThrow(UnreadableFileError)
  })
})

describe('the cost of reading a file', () => {
  it('is bounded by a maximum number of columns in the header', async () => {
    const wide = `${Array.from({ length: 2_001 }, (_, at) => `c${at}`).join()}\n${'x\n'.repeat(100)}`
    await expect(read('csv', wide)).rejects.toThrow(UnreadableFileError)
    await expect(read('csv', wide)).rejects.toThrow('names 2001 columns')
  })

  it.each([
    ['levels', '['.repeat(101) + ']'.repeat(101)],
    ['items', `[${'0,'.repeat(10_000)}0]`],
    ['keys', `{${Array.from({ length: 2_001 }, (_, at) => `"k${at}":0`).join()}}`],
  ])('of JSON with too many %s is limited to its own line', async (_what, json) => {
    const rows = await read('ndjson', `{"name":"a","extra":${json}}\n{"name":"b"}`)
    expect(rows[0]).toMatchObject({ line: 1, problem: expect.stringMatching(/levels|items|keys|deep/) })
    expect(rows[1]).toMatchObject({ line: 2, given: { name: 'b' } })
    const [cell] = await read('csv', `name,extra\na,"${json.replaceAll('"', '""')}"`)
    const problem = expect.stringMatching(/levels|items|keys|deep/)
    expect(cell).toMatchObject({ given: { name: 'a', extra: { problem } } })
  })

  it('is bounded for each batch, and batches have the same rows on every read', async () => {
    const line = `{"name":"${'x'.repeat(900_000)}"}`
    const sizes = async (text: string) => {
      const found: number[] = []
      for await (const batch of batchRows(readRows({ format: 'ndjson', delimiter: ',' }, table, parts(text))))
        found.push(batch.length)
      return found
    }
    const large = `${line}\n`.repeat(21)
    expect(await sizes(large)).toEqual([10, 10, 1])
    expect(await sizes('{"name":"x"}\n'.repeat(1_001))).toEqual([500, 500, 1])
  })
})

describe('a CSV file', () => {
  const lineOf = (row: FileRow) => row.line
  it.each(['\n', '\r\n'])('has the line number each row begins on, with line ends %j', async (end) => {
    const lines = ['name,extra', '"two', 'lines",', '', 'b,', '', '', `"c${end}${end}d","{}"`, 'e,']
    expect((await read('csv', lines.join(end))).map(lineOf)).toEqual([2, 5, 8, 11])
    const mixed = `name\n"a\r\nb"\n"c\rd"\ne`
    expect((await read('csv', mixed)).map(lineOf)).toEqual([2, 4, 6])
  })

  it.each([
    ['name\na\n5" disk\n', /line 3 has a quote within a cell/],
    ['name\r\n"a\r\nb"\r\n\r\n"c"d\r\n', /line 5 has text behind the quote/],
    ['name\na\n\n"open\nb\n', /line 4 has a quote that is not closed/],
    [`name\na\n"${'x'.repeat(1_100_000)}"`, /line 3 has more than 1048576 characters/],
    ['name,serial, name\na,b,c', /names "name" twice, in cells 1 and 3/],
  ])('that cannot be read is rejected with the place of the error: %#', async (text, message) => {
    const failed = await read('csv', text).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(UnreadableFileError)
    expect((failed as Error).message).toMatch(message)
  })

  it('has no value in an empty cell, and an empty text in an empty pair of quotes', async () => {
    const required = table.columns.find(({ nullable, default: byDefault }) => !nullable && byDefault === null)
    expect(required).toMatchObject({ name: 'name', type: 'text' })
    const given = (await read('csv', 'name,serial,quantity\n,,\n"","",""\nx')).map(
      (row) => 'given' in row && row.given,
    )
    expect(given).toEqual([{ serial: null }, { name: '', serial: '' }, { name: 'x', serial: null }])
  })
})
