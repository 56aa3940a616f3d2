import { afterAll, beforeAll, expect, test } from '@jest/globals'
import postgres from 'postgres'
import { jsonArray } from './json-array.js'

let sql: postgres.Sql

beforeAll(() => {
  sql = postgres(process.env.TEST_DATABASE_URL ?? '', { max: 1 })
})
afterAll(() => sql.end())

test.each([
  ['none', []],
  ['null among texts', [null, '{}', 'null', null]],
  ['quotes and backslashes', [JSON.stringify({ a: 'say "hi" \\ "', 'b"': '\\\\"' }), '""']],
  ['escapes of JSON', [JSON.stringify('\n\t\u0001\u2028\ud800')]],
  ['other letters', ['"ä😀"', '{"名": [1.5, true]}']],
  ['a text over several lines', ['{\n\t"a": "b\\"\\\\"\r\n}', '\u007f']],
])('passes an array of texts to Postgres unchanged: %s', async (_, texts) => {
  const [row] = await sql.unsafe<{ texts: string[] }[]>('select to_json($1::text[]) as texts', [
    jsonArray(texts),
  ])
  expect(row?.texts).toEqual(texts)
})
