import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { pace, type Receiver, seededRandom, startReceiver, waitFor } from '@opsplane/testing'
import { type Api, type ApiAnswer, apiClient, startTestCluster } from './platform.js'

const seed = Number(process.env.CRASH_SEED ?? 20_261)
const kills = Number(process.env.STUDIO_KILLS ?? 3)

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
let receiver: Receiver

beforeAll(async () => {
  cluster = await startTestCluster()
  api = apiClient(cluster.info)
  receiver = await startReceiver({
    tls: { key: cluster.certificate.key, cert: cluster.certificate.cert },
    respond: () => ({ status: 200 }),
  })
})
afterAll(async () => {
  await receiver?.stop()
  await cluster?.stop()
})

interface Delivered {
  id: string
  event: string
  data: Record<string, unknown>
}

/** What has arrived at a path, each event once. */
function arrivedAt(path: string): Delivered[] {
  const found = receiver.received().filter((request) => request.path === path)
  const bodies = found.map(({ rawBody }) => JSON.parse(rawBody.toString()) as Delivered)
  return [...new Map(bodies.map((body) => [body.id, body])).values()]
}

async function table(slug: string, columns: object[]): Promise<void> {
  const { status, body } = await api('POST', '/tables', { body: { slug, columns } })
  expect([status, body]).toEqual([201, expect.anything()])
}

async function webhook(path: string, events: string[], filter: object): Promise<void> {
  const body = { name: path, url: `${receiver.url}${path}`, events, filter, retries: 20 }
  expect((await api('POST', '/webhooks', { body })).status).toBe(201)
}

const text = (name: string) => ({ name, type: 'text' })

test('changes of records reach the webhooks that ask for them by table and column, and no others', async () => {
  await table('assets', [text('name'), { name: 'status', type: 'enum', values: ['new', 'used'] }])
  await table('sites', [text('name'), text('status')])
  await webhook('/used', ['record.*'], { 'data.tableSlug': 'assets', 'data.status': 'used' })
  const records = '/tables/assets/records'
  type One = ApiAnswer<{ data: { id: string } }>
  const drill = (await api('POST', records, { body: { name: 'Drill', status: 'new' } })) as One
  await api('PATCH', `${records}/${drill.body.data.id}`, { body: { status: 'used' } })
  await api('POST', `${records}/bulk`, {
    body: {
      records: [
        { name: 'Saw', status: 'used' },
        { name: 'Axe', status: 'new' },
      ],
    },
  })
  await api('PATCH', `${records}/bulk`, { body: { filter: { name: 'Axe' }, set: { status: 'used' } } })
  await api('POST', '/tables/sites/records', { body: { name: 'Berlin', status: 'used' } })
  await api('POST', '/tables/batch', {
    body: {
      operations: [
        { op: 'create', table: 'assets', data: { name: 'Lathe', status: 'used' } },
        { op: 'create', table: 'sites', data: { name: 'Bonn', status: 'used' } },
        { op: 'delete', table: 'assets', id: drill.body.data.id },
      ],
    },
  })
  const sql = `update assets set name = name || '!' where name in ('Saw', 'Lathe')`
  const changed = await api('POST', '/queries/run', { body: { sql, mode: 'write' } })
  expect([changed.status, changed.body]).toEqual([200, expect.anything()])
  const expected = [
    ...['record.updated Drill', 'record.created Saw', 'record.updated Axe', 'record.created Lathe'],
    ...['record.deleted Drill', 'record.updated Saw!', 'record.updated Lathe!'],
  ]
  const arrived = () => arrivedAt('/used').map(({ event, data }) => `${event} ${data.name}`)
  await waitFor(() => arrived().length >= expected.length, { message: 'the events' })
  // Everything that was committed before it has been fanned out when this one arrives.
  await api('POST', records, { body: { name: 'Last', status: 'used' } })
  await waitFor(() => arrived().includes('record.created Last'), { message: 'the last event' })
  expect(arrived().toSorted()).toEqual([...expected, 'record.created Last'].toSorted())
})

test('whatever is killed, bulk requests and imports are there whole and once, with their events', async () => {
  const random = seededRandom(seed)
  await table('rows', [text('tag')])
  await webhook('/rows', ['record.created'], { 'data.tableSlug': 'rows' })
  const path = '/tables/rows/records'
  const [bulkRows, importRows] = [50, 400 * kills]
  const studio = cluster.services['database-studio']
  let over = false
  let answered = 0

  const kill = async () => {
    for (let count = 0; count < kills; count++) {
      const victim = count % 3 === 2 ? cluster.postgres : studio
      const more = answered + Math.ceil(random() * 4)
      await waitFor(() => answered >= more)
      await victim.kill()
      await victim.start()
    }
    over = true
  }
  /** Sends until it is answered, each time with its key. */
  const insist = async (send: () => Promise<ApiAnswer>) => {
    for (;;) {
      const answer = await send().catch(() => undefined)
      if (answer && answer.status < 500 && answer.status !== 409) return answer
      await pace(50)
    }
  }
  const bulk = async (worker: number) => {
    const tags: string[] = []
    while (!over) {
      const tag = `bulk-${worker}-${tags.length}`
      tags.push(tag)
      const body = { records: Array.from({ length: bulkRows }, () => ({ tag })) }
      await insist(() => api('POST', `${path}/bulk`, { body, headers: { 'idempotency-key': tag } }))
      answered++
      await pace(100)
    }
    return tags
  }
  const csv = `tag\n${'imported\n'.repeat(importRows)}`
  const begun = await api<{ data: { id: string } }>('POST', `${path}/import`, {
    rawBody: csv,
    headers: { 'content-type': 'text/csv' },
  })
  expect(begun.status).toBe(202)
  const [one, two] = await Promise.all([bulk(1), bulk(2), kill()])
  const tags = [...one, ...two]
  await waitFor(
    async () => {
      const { body } = await api<{ data: { status: string; written: number } }>(
        'GET',
        `/tables/rows/imports/${begun.body.data.id}`,
      )
      return body.data.status === 'completed' && body.data.written === importRows
    },
    // What a process that was killed had in hand is taken up after half a minute.
    { message: 'the import to end' },
  )
  const total = async (tag: string) => {
    const query = new URLSearchParams({ filter: JSON.stringify({ tag }), count: 'exact', limit: '1' })
    const { body } = await api<{ pagination: { total: number } }>('GET', `${path}?${query}`)
    return body.pagination.total
  }
  expect(await total('imported')).toBe(importRows)
  for (const tag of tags) expect([tag, await total(tag)]).toEqual([tag, bulkRows])
  const rows = importRows + tags.length * bulkRows
  await waitFor(() => arrivedAt('/rows').length >= rows, {
    message: 'an event of every row',
  })
  expect(new Set(arrivedAt('/rows').map(({ data }) => data.id)).size).toBe(rows)
})
