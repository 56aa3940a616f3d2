import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { FactRowsQuery, type IncidentState } from '@opsplane/contracts'
import { connect, type Database, jsonArray } from '@opsplane/postgres'
import { seededRandom, testPrincipal } from '@opsplane/testing'
import { type Analytics, incidentEvent, incidentState, startAnalytics } from '../fact/facts.fixture.js'
import { createFactWriter } from '../fact/write-facts.js'
import { appendBytes, byteSink } from '../format/byte-sink.js'
import { openWriter } from '../format/formats.js'
import { checkFactRows } from './check-query.js'
import { factComposites, factRows } from './rows.js'

const workspaceId = testPrincipal().workspaceId ?? ''
const random = seededRandom(102)
const pick = <Value>(values: readonly Value[]): Value => values[Math.floor(random() * values.length)] as Value
let service: Analytics
let database: Database

/** Pieces of text with a meaning in CSV, JSON or Postgres composite values, and similar ones. */
const pieces = [
  ...[
    ',',
    '"',
    '""',
    '\\',
    '\\\\',
    '(',
    ')',
    '),(',
    '\n',
    '\r\n',
    '\t',
    '\b',
    '\f',
    '\v',
    '\u0001',
    '\u007f',
  ],
  ...[
    ' ',
    "'",
    '=',
    '+',
    '-',
    '@',
    '＝',
    '＋',
    '－',
    '＠',
    '（',
    'ä',
    '漢字',
    '🙂',
    '\u2028',
    'N',
    'null',
    '\\.',
  ],
  ...['plain', 'x', '0', '{}', '\ufeff'],
]
const text = () => Array.from({ length: Math.floor(random() * 6) }, () => pick(pieces)).join('')

function incident(at: number): IncidentState {
  const createdAt = new Date(
    Date.UTC(2026, 2, 1) + Math.floor(at / 3) * pick([1, 10, 100, 1_000]),
  ).toISOString()
  return incidentState({ createdAt, reopenCount: at, resolvedAt: pick([createdAt, null]) })
}
/** More than one page. */
const incidents = Array.from({ length: 4_100 }, (_, at) => incident(at))

beforeAll(async () => {
  service = await startAnalytics()
  database = connect(service.adminUrl, { schema: 'analytics', max: 4 })
  const writer = createFactWriter(database, () => {})
  await writer.write(incidents.map((state) => incidentEvent(workspaceId, state)))
  // Values beyond the validation of any service.
  const [ids, titles, categories] = [
    incidents.map(({ id }) => id),
    incidents.map(text),
    incidents.map(() => pick([text(), null])),
  ]
  await database.sql.unsafe(
    `update fact_incidents f set title = t.title, category = t.category, resolution_code = t.title
     from unnest($1::text[], $2::text[], $3::text[]) as t (id, title, category) where f.id = t.id`,
    [jsonArray(ids), jsonArray(titles), jsonArray(categories)],
  )
})
afterAll(async () => {
  await database?.close()
  await service?.stop()
})

const query = FactRowsQuery.parse({ dataset: 'incidents' })
const asked = () => ({
  ...{ ...query, ...checkFactRows(query), now: new Date().toISOString() },
  tenant: { workspaceId, environment: 'production' as const },
})
const { signal } = new AbortController()

test.each([
  { format: 'csv', escapeFormulas: true },
  { format: 'csv', escapeFormulas: false },
  { format: 'ndjson', escapeFormulas: true },
  { format: 'json', escapeFormulas: true },
] as const)(
  'facts are the same as $format, written from parsed values or from Postgres composites',
  async (options) => {
    const { columns } = asked()
    const [byValues, byText] = [openWriter(options, columns), openWriter(options, columns)]
    const [values, lines] = [byteSink(1_000), byteSink(1_000)]
    const cursors: string[] = []
    for await (const { rows, cursor } of factRows(database, asked(), { signal })) {
      appendBytes(values, await byValues.write(rows))
      cursors.push(cursor)
    }
    let count = 0
    for await (const { composites, cursor } of factComposites(database, asked(), { signal })) {
      count += byText.writeComposites?.(lines, composites) ?? 0
      expect(cursor).toBe(cursors.shift())
    }
    appendBytes(values, await byValues.end())
    appendBytes(lines, await byText.end())
    expect([count, cursors]).toEqual([incidents.length, []])
    expect(lines.bytes.toString('utf8', 0, lines.length)).toBe(
      values.bytes.toString('utf8', 0, values.length),
    )
  },
)

test('facts continue after a cursor in the middle of a page', async () => {
  const all: string[] = []
  const ids = (composites: Uint8Array) =>
    Buffer.from(composites)
      .toString()
      .match(/(?<=(^|\))\()inc_[0-9A-Z]{26}/g) ?? []
  for await (const { composites } of factComposites(database, asked(), { signal }))
    all.push(...ids(composites))
  expect(new Set(all).size).toBe(incidents.length)
  const [first] = await database.sql<{ at: string; id: string }[]>`
    select to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at, id from fact_incidents
    where id = ${all[1_234] ?? ''}`
  const rest: string[] = []
  const after = `${first?.at}/${first?.id}`
  for await (const { composites } of factComposites(database, asked(), { after, signal }))
    rest.push(...ids(composites))
  expect(rest).toEqual(all.slice(1_235))
})
