import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { type Api, apiClient } from './platform.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

let platform: SharedPlatform
let api: Api
let receiver: Receiver

beforeAll(async () => {
  platform = await joinPlatform()
  api = apiClient(platform.info)
  receiver = await startReceiver({
    tls: { key: platform.certificate.key, cert: platform.certificate.cert },
    respond: () => ({ status: 200 }),
  })
})
afterAll(async () => {
  await receiver?.stop()
})

/** Events received at a path, each one once. */
function arrivedAt(path: string) {
  const bodies = receiver
    .received()
    .filter((request) => request.path === path)
    .map(
      ({ rawBody }) =>
        JSON.parse(rawBody.toString()) as { id: string; event: string; data: Record<string, unknown> },
    )
  return [...new Map(bodies.map((body) => [body.id, body])).values()]
}

async function webhook(path: string, events: string[], filter: object): Promise<void> {
  const body = { name: path, url: `${receiver.url}${path}`, events, filter, retries: 20 }
  expect((await api('POST', '/webhooks', { body })).status).toBe(201)
}

async function migrate(name: string, up: string): Promise<void> {
  const draft = await api<{ data: { id: string } }>('POST', '/migrations', { body: { name, up } })
  expect([draft.status, draft.body]).toEqual([201, expect.anything()])
  const applied = await api('POST', `/migrations/${draft.body.data.id}/apply`, { body: {} })
  expect([applied.status, applied.body]).toEqual([200, expect.objectContaining({ data: expect.anything() })])
}

test('changes made by migrations and SQL are delivered only to the webhooks that match them', async () => {
  await webhook('/tables', ['table.*', 'migration.*'], {})
  await webhook('/far', ['record.*'], { 'data.tableSlug': 'trips', 'data.km': { gte: 100 } })
  await migrate(
    'Trips',
    `create table trips (goal text not null, km integer);
     create table notes (goal text, km integer);
     insert into trips (goal, km) values ('Rome', 900), ('Pub', 1);
     insert into notes (goal, km) values ('Nowhere', 900);
     update trips set km = km * 100 where goal = 'Pub'`,
  )
  const sql = 'delete from trips where goal = :goal'
  const run = await api('POST', '/queries/run', {
    body: { sql, mode: 'write', parameters: { goal: 'Rome' } },
  })
  expect([run.status, run.body]).toEqual([200, expect.anything()])
  expect((await api('POST', '/tables/trips/records', { body: { goal: 'Last', km: 500 } })).status).toBe(201)

  const far = () => arrivedAt('/far').map(({ event, data }) => `${event} ${String(data.goal)}`)
  await waitFor(() => far().includes('record.created Last'), { message: 'the last record' })
  const expected = ['record.created Rome', 'record.updated Pub', 'record.deleted Rome', 'record.created Last']
  await waitFor(() => far().length >= expected.length, { message: 'every record' })
  expect(far().toSorted()).toEqual(expected.toSorted())
  const made = () =>
    arrivedAt('/tables').map(({ event, data }) => `${event} ${String(data.slug ?? data.name)}`)
  const tables = [
    'migration.created Trips',
    'migration.applied Trips',
    'table.created trips',
    'table.created notes',
  ]
  await waitFor(() => made().length >= tables.length, { message: 'the tables' })
  expect(made().toSorted()).toEqual(tables.toSorted())
})
