import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createClient } from '@opsplane/client'
import { ExactNumber, exactNumbersAsText, parseExact, stringifyExact } from '@opsplane/contracts'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { cases, normal, sameValue } from './cases.js'
import { findType } from './columns.js'
import { type ExactClient, joinWithExactClient } from './exact-client.js'
import { fileReaders } from './files.js'
import { buildInsert, buildRows, type PlacedCase, type Row } from './rows.js'

let joined: ExactClient
const api: ExactClient['api'] = (...call) => joined.api(...call)
const made: ExactClient['made'] = (...call) => joined.made(...call)
const found: ExactClient['found'] = (...call) => joined.found(...call)
let receiver: Receiver
let eventWorkflow: string
const records = '/tables/values/records'

beforeAll(async () => {
  joined = await joinWithExactClient()
  const { key, cert } = joined.platform.certificate
  receiver = await startReceiver({
    tls: { key, cert },
    respond: ({ path, rawBody }) =>
      path === '/echo'
        ? { status: 200, headers: { 'content-type': 'application/json' }, body: rawBody.toString() }
        : { status: 200 },
  })
  await joined.makeTables()
  await joined.deployApp()
  eventWorkflow = await published({
    trigger: { type: 'event', events: ['record.created'], filter: { 'data.tag': read } },
    ...{ steps: [{ id: 'say', type: 'transform', value: 'done' }], output: '{{ event.data }}' },
  })
  await made('/webhooks', { name: 'values', url: `${receiver.url}/events`, events: ['record.created'] })
})
afterAll(() => receiver?.stop())

const filtered = (filter: object) => `filter=${encodeURIComponent(stringifyExact(filter))}`

/** Finds the records of all stored cases by their tags. */
type Read = (ids: ReadonlyMap<string, string>, at: string) => Promise<ReadonlyMap<string, Row>>
const byTag = (rows: readonly Row[]) => new Map(rows.map((row) => [String(row.tag), row]))
const linesOf = (text: string) => fileReaders.ndjson?.(Buffer.from(text)) as Row[]
const read = { starts_with: 'read ' }

/** State of the record after each event, by tag; tags of other records are ignored. */
const afterOf = (events: readonly { data: { after?: Row | null } }[]) =>
  byTag(events.flatMap(({ data }) => (data.after ? [data.after] : [])))

async function exportOf(format: string, source: object): Promise<Row[]> {
  const { id } = await made('/analytics/exports', { name: 'Values', format, source, escapeFormulas: false })
  const ended = await waitFor(async () => {
    const { data } = (await api<{ status: string }>('GET', `/analytics/exports/${id}`)).json
    return data.status !== 'pending' && data
  })
  expect(ended).toMatchObject({ status: 'completed' })
  const { url } = (await api<{ url: string }>('GET', `/analytics/exports/${id}/download`)).json.data
  const file = Buffer.from(await (await fetch(url)).arrayBuffer())
  return fileReaders[format]?.(file) ?? []
}

async function reportOfValues(): Promise<string> {
  const saved = { name: 'All values', sql: `select * from "values" where tag like 'read %'` }
  const { id: savedQuery } = await made('/queries', saved)
  return (await made('/analytics/reports', { name: 'Values', query: { savedQuery, limit: 200 } })).id
}

const readers: Record<string, Read> = {
  async 'the record'(ids) {
    const answers = await Promise.all([...ids.values()].map((id) => api<Row>('GET', `${records}/${id}`)))
    return byTag(answers.map(({ json }) => json.data))
  },
  'a list': async () =>
    byTag((await api<Row[]>('GET', `${records}?limit=200&${filtered({ tag: read })}`)).json.data),
  async 'the typed client'() {
    const { baseUrl, apiKey: token, workspace } = joined.platform.info
    const client = createClient({ baseUrl, token, workspace })
    const params = { path: { slug: 'values' }, query: { limit: 200, filter: stringifyExact({ tag: read }) } }
    return byTag((await client.get('/tables/{slug}/records', { params })).data as Row[])
  },
  'the record as of now': async (ids, at) => {
    const path = (id: string) => `${records}/${id}?asOf=${encodeURIComponent(at)}`
    const answers = await Promise.all([...ids.values()].map((id) => api<Row>('GET', path(id))))
    return byTag(answers.map(({ json }) => json.data))
  },
  history: async (ids) => {
    const answers = await Promise.all(
      [...ids.values()].map((id) => api<{ after: Row }[]>('GET', `${records}/${id}/history`)),
    )
    return byTag(answers.flatMap(({ json }) => json.data.map(({ after }) => after)))
  },
  SQL: async () => {
    const sql = `select * from "values" where tag like 'read %'`
    return byTag((await made<{ rows: Row[] }>('/queries/run', { sql })).rows)
  },
  'an export of ndjson': async () =>
    byTag(linesOf((await api('GET', `${records}/export?format=ndjson&${filtered({ tag: read })}`)).text)),
  'an export of CSV': async () =>
    byTag(
      (await fileReaders.csv?.(
        Buffer.from((await api('GET', `${records}/export?format=csv&${filtered({ tag: read })}`)).text),
      )) ?? [],
    ),
  ...Object.fromEntries(
    Object.keys(fileReaders).map((format): [string, Read] => [
      `a file of ${format}`,
      async () => byTag(await exportOf(format, { records: { table: 'values', filter: { tag: read } } })),
    ]),
  ),
  'an app': async () => {
    const requests = [{ key: 'k', source: 'values' }]
    const { results } = (
      await api<{ results: { k: { rows: Row[] } } }>('POST', joined.appPath('data'), { requests })
    ).json.data
    return byTag(results.k.rows)
  },
  'a report': async () =>
    byTag((await made<{ rows: Row[] }>(`/analytics/reports/${await reportOfValues()}/run`, {})).rows),
  ...Object.fromEntries(
    Object.keys(fileReaders).map((format): [string, Read] => [
      `a file of ${format} of a report`,
      async () => byTag(await exportOf(format, { report: await reportOfValues() })),
    ]),
  ),
  'the audit log': async (ids) => {
    const path = '/audit?type=record.created&limit=200'
    return waitFor(async () => {
      const { json } = await api<{ data: { after: Row } }[]>('GET', path)
      const rows = afterOf(json.data)
      return [...ids.keys()].every((tag) => rows.has(tag)) && rows
    })
  },
  'an export of the audit log': async () =>
    afterOf(
      linesOf((await api('GET', '/audit/export?type=record.created')).text).filter(
        ({ data }) => data,
      ) as never,
    ),
  'runs that events start': (ids) =>
    waitFor(async () => {
      type Runs = { id: string; status: string }[]
      const path = `/workflows/${eventWorkflow}/runs?limit=200`
      const ended = (await api<Runs>('GET', path)).json.data.filter(({ status }) => status === 'completed')
      if (ended.length < ids.size) return false
      const runs = ended.map(({ id }) => api<{ output: { value: Row } }>('GET', `/runs/${id}`))
      return byTag((await Promise.all(runs)).map(({ json }) => json.data.output.value))
    }),
  deliveries: (ids) =>
    waitFor(() => {
      const sent = receiver.received().filter(({ path }) => path === '/events')
      const rows = byTag(sent.map(({ rawBody }) => (parseExact(rawBody.toString()) as { data: Row }).data))
      return [...ids.keys()].every((tag) => rows.has(tag)) && rows
    }),
}

/** Values that a file format cannot represent: a workbook has no empty text, and Parquet no years outside 1 to 9999. */
const missing: Record<string, (column: string, back: unknown) => boolean> = {
  xlsx: (column, back) => back === '' && findType(column) === 'text',
  parquet: (column, back) =>
    ['date', 'timestamp'].includes(findType(column)) && !/^\d{4}-(?!.*BC)/.test(String(back)),
}

const formatOf = (name: string) => /^a file of (\w+)/.exec(name)?.[1] ?? ''

describe('stored values are read exactly', () => {
  const bySql = cases.flatMap(({ back, sql, ...each }) =>
    back === null && sql ? [{ ...each, sql, back: sql }] : [],
  )
  const given = buildRows(
    'read given',
    cases.filter(({ back }) => back !== null),
  )
  const inserted = buildRows('read inserted', bySql)
  const placed: readonly PlacedCase[] = [...given.placed, ...inserted.placed]
  const ids = new Map<string, string>()
  let written: string

  beforeAll(async () => {
    for (const row of given.rows) await made(records, row)
    for (const row of inserted.rows) {
      const { sql, types } = buildInsert(row)
      await made('/queries/run', { sql, types, parameters: row, mode: 'write' })
    }
    const all = await found({ tag: read })
    for (const { tag, id } of all) ids.set(String(tag), id)
    written = String(
      all
        .map(({ createdAt }) => createdAt)
        .toSorted()
        .at(-1),
    )
  })

  test.each(Object.keys(readers))('through %s', async (name) => {
    const rows = await (readers[name] as Read)(ids, written)
    const wrong = placed.flatMap(({ column, back, tag }) => {
      const value = rows.get(tag)?.[column]
      const kept = parseExact(String(back))
      const isMissing = missing[formatOf(name)]?.(column, kept)
      // Expressions represent numbers that do not fit a double as texts.
      const wanted = isMissing ? null : name.startsWith('runs') ? exactNumbersAsText(kept) : kept
      return sameValue(column, value, wanted) ? [] : [{ column, back, value }]
    })
    expect(wrong).toEqual([])
  })

  test('through a parameter of a report', async () => {
    const sql = `select * from "values" where tag like 'read %' and counter = :counter`
    const declared = { name: 'Counted', parameters: [{ name: 'counter', type: 'bigint' }], sql }
    const { id: savedQuery } = await made('/queries', declared)
    const query = { savedQuery, parameters: { counter: '{{params.counter}}' } }
    const parameters = [{ name: 'counter', type: 'number' }]
    const { id } = await made('/analytics/reports', { name: 'Counted', query, parameters })
    const counted = async (text: string) => {
      const asked = { parameters: { counter: parseExact(text) } }
      return (await made<{ rows: Row[] }>(`/analytics/reports/${id}/run`, asked)).rows.map(
        ({ counter }) => counter,
      )
    }
    expect(await counted('9007199254740993')).toEqual(['9007199254740993'])
    expect(await counted('9007199254740992')).toEqual([])
  })

  test('through a filter on the value, which matches no neighbouring value', async () => {
    const wrong: unknown[] = []
    for (const { column, sent, tag } of given.placed) {
      if (findType(column) === 'json') continue
      const tags = (await found({ tag: read, [column]: parseExact(sent) })).map((row) => row.tag)
      if (!tags.includes(tag)) wrong.push({ column, sent, tags })
    }
    expect(wrong).toEqual([])
    const byPath = (n: string) => found({ tag: read, 'extra.a.0': new ExactNumber(n) })
    expect(await byPath('9007199254740993')).toHaveLength(1)
    expect(await byPath('9007199254740993.5')).toHaveLength(0)
    const above = await found({
      tag: { starts_with: 'read given' },
      amount: { gt: new ExactNumber('123456789012345678901234567890.123456788') },
    })
    expect(above).toHaveLength(1)
  })
})

const value = parseExact(
  '{"n":9007199254740993,"d":[1234567890123456.7891,-0.1,1e21,1e-7],"s":"9007199254740993","z":null}',
)
const plain = exactNumbersAsText(value)

const echoes: [string, (given: unknown) => Promise<unknown>, unknown][] = [
  [
    'a topic',
    async (payload) => {
      await made('/events/topics/values/publish', { type: 'value.sent', payload })
      return (await api<{ payload: unknown }[]>('GET', '/events/topics/values/events')).json.data.at(-1)
        ?.payload
    },
    value,
  ],
  [
    'a connector and its answer',
    async (body) => {
      const { id } = await made('/connectors', {
        name: 'echo',
        kind: 'http',
        config: { baseUrl: receiver.url },
      })
      const input = { path: '/echo', body }
      const { output } = await made<{ output: { body: unknown } }>(`/connectors/${id}/invoke`, {
        action: 'post',
        input,
      })
      const [sent] = receiver.received().filter(({ path }) => path === '/echo')
      expect(normal(parseExact(String(sent?.rawBody)))).toBe(normal(body))
      return output.body
    },
    value,
  ],
  ['the input of a run', (input) => runOf(input), value],
  [
    'a constant of a workflow, and its answer',
    async (given) => {
      const id = await published({ steps: [{ id: 'say', type: 'transform', value: given }] })
      return (await made<{ output: unknown }>(`/workflows/${id}/trigger?wait=20`, {})).output
    },
    value,
  ],
  [
    'an expression',
    async (input) =>
      (await made<{ result: unknown }>('/transformer/evaluate', { expression: '$', input })).result,
    plain,
  ],
]

async function published(definition: object): Promise<string> {
  const { id } = await made('/workflows', { name: 'Says', definition })
  await made(`/workflows/${id}/publish`, { activate: true })
  return id
}

/** The input of a run, as shown in its trace. */
async function runOf(input: unknown): Promise<unknown> {
  const id = await published({ steps: [{ id: 'say', type: 'transform', value: 'done' }] })
  const { runId } = await made<{ runId: string }>(`/workflows/${id}/trigger?wait=20`, { input })
  return (await api<{ input: { value: unknown } }>('GET', `/runs/${runId}`)).json.data.input.value
}

test.each(echoes)('%s preserves a value exactly as sent', async (_name, echo, wanted) => {
  expect(normal(await echo(value))).toBe(normal(wanted))
})
