import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { connect, type Database } from '@opsplane/postgres'
import { createDatabase, type TestDatabase, testLogin } from '@opsplane/testing'
import { findTarget } from './ops-target.js'
import { listWaitingWebhooks } from './ops-webhooks.js'
import { backends } from './services.js'

let server: TestDatabase
let database: Database

beforeAll(async () => {
  server = await createDatabase()
  await backends.dispatcher.provision({ adminUrl: server.url, ...testLogin })
  database = connect(server.url, { schema: 'dispatcher', max: 1 })
  await database.sql`select add_delivery_day((now() at time zone 'UTC')::date)`
})
afterAll(async () => {
  await database?.close()
  await server?.drop()
})

/** Creates a webhook in a separate workspace with deliveries in the given states, oldest first. */
async function webhook(name: string, states: string[]): Promise<string> {
  const { sql } = database
  const id = newId('webhook')
  const state = {
    id,
    name,
    status: 'active',
    url: `https://${name}.example.com/hook?key=secret`,
    timeoutMs: 1_000,
  }
  await sql`insert into webhooks (id, workspace_id, environment, version, state)
    values (${id}, ${`ws_${name}`}, 'production', 1, ${sql.json(state)})`
  for (const status of states)
    await sql`
      insert into deliveries (id, workspace_id, environment, webhook_id, event_id, event_type, url, status, due_at,
        last_error_kind, created_at)
      values (${newId('delivery')}, ${`ws_${name}`}, 'production', ${id}, 'evt_1', 'a.b', 'https://a', ${status}, 1, 'timeout', '')`
  return id
}

test('lists webhooks of all workspaces with unfinished deliveries, by the oldest of these', async () => {
  const target = findTarget({ home: 'nowhere', databaseUrl: server.url }, {})
  expect(await listWaitingWebhooks(target, 10)).toEqual([])
  const older = await webhook('older', ['succeeded', 'retrying', 'pending'])
  await webhook('done', ['succeeded', 'failed'])
  const newer = await webhook('newer', ['pending'])
  const found = await listWaitingWebhooks(target, 10)
  expect(found.map(({ id }) => id)).toEqual([older, newer])
  expect(found[0]).toEqual({
    ...{ id: older, workspaceId: 'ws_older', environment: 'production', name: 'older', status: 'active' },
    ...{ host: 'older.example.com', waiting: 2, failures: 0, lastError: 'timeout', lastStatus: null },
    oldestAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  })
  expect(await listWaitingWebhooks(target, 1)).toHaveLength(1)
})
