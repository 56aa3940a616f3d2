import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { type Api, type ApiAnswer, apiClient } from './platform.js'
import { joinPlatform } from './shared/platform.js'

let api: Api
let receiver: Receiver

beforeAll(async () => {
  const { info, certificate } = await joinPlatform()
  api = apiClient(info)
  receiver = await startReceiver({
    tls: { key: certificate.key, cert: certificate.cert },
    respond: () => ({ status: 200 }),
  })
})
afterAll(() => receiver?.stop())

interface Delivered {
  id: string
  event: string
  data: Record<string, unknown>
}

/** Events received at a path, each one once. */
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

test('record changes are delivered only to the webhooks whose filter matches their table and column', async () => {
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
  // When this event arrives, everything committed before it has been fanned out.
  await api('POST', records, { body: { name: 'Last', status: 'used' } })
  await waitFor(() => arrived().includes('record.created Last'), { message: 'the last event' })
  expect(arrived().toSorted()).toEqual([...expected, 'record.created Last'].toSorted())
})
