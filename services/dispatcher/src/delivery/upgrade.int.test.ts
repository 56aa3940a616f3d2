import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import type { RunningService } from '@opsplane/runtime'
import { createEarlierDatabase, type EarlierDatabase, uniquePrefix, waitFor } from '@opsplane/testing'
import { eventIdAt } from '../fixture/days.js'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'
import { dispatcher } from '../service.js'
import { leastDeliveryId } from './delivery-id.js'
import { getDelivery, listDeliveries } from './queries.js'
import { dayMs } from './retention-policy.js'

const tenant = { workspaceId: 'ws_before', environment: 'production' as const }
const webhookId = newId('webhook')

let fixture: DispatcherFixture
let earlier: EarlierDatabase
let owner: Database
let upgraded: RunningService | undefined
beforeAll(async () => {
  fixture = await startDispatcher()
  const { migrationsDir } = dispatcher
  earlier = await createEarlierDatabase({
    service: 'dispatcher',
    migrationsDir,
    before: '0003_delivery_days',
  })
  owner = earlier.owner
})
afterAll(async () => {
  await upgraded?.stop()
  await earlier?.drop()
  await fixture?.stop()
})

interface Before {
  status: string
  daysAgo: number
  due_at?: number
  lease_owner?: string
  attempts?: number
  replay_of?: string
  event_id?: string
}

async function insertBefore(before: Before) {
  const at = Date.now() - before.daysAgo * dayMs
  const event_id = before.event_id ?? eventIdAt(at)
  // Then ids were made when the delivery was: the day can be another one than the event's.
  const id = `${leastDeliveryId(at + 60_000)}${newId('delivery').slice(-16)}`
  const row = { due_at: null, lease_owner: null, attempts: 0, replay_of: null, ...before }
  const scope = { workspace_id: tenant.workspaceId, environment: tenant.environment }
  const created_at = new Date(at).toISOString()
  const event = {
    id: event_id,
    type: 'before.created',
    ...tenant,
    createdAt: created_at,
    actor: { id: 'usr_1', name: 'Ada', type: 'user' },
    resource: { type: 'incident', id: newId('incident'), number: 'INC-1', displayName: 'Down' },
    data: { before: null, after: { title: 'Down' }, changes: ['title'] },
    version: 1,
    requestId: null,
    causationId: null,
    source: null,
  }
  const { sql } = owner
  await sql`insert into delivery_events ${sql({ event_id, ...scope, event: sql.json(event), created_at })}
    on conflict do nothing`
  const { status, due_at, lease_owner, attempts, replay_of } = row
  const delivery = {
    id,
    ...scope,
    webhook_id: webhookId,
    event_id,
    event_type: 'before.created',
    url: 'https://a',
  }
  await sql`insert into deliveries ${sql({ ...delivery, status, due_at, lease_owner, attempts, replay_of, created_at })}`
  for (let number = 1; number <= attempts; number++)
    await sql`insert into delivery_attempts ${sql({
      ...{ delivery_id: id, number, ...scope, started_at: created_at, duration_ms: 1, url: 'https://a' },
      ...{ request_headers: sql.json({}), response_status: 500, response_body: 'no' },
    })}`
  return { id, event_id, status }
}

async function insertWebhook() {
  const state = {
    ...{ id: webhookId, name: 'before', url: fixture.endpoint('before'), events: ['before.*'], headers: {} },
    ...{ filter: null, retries: 3, retryStrategy: 'exponential', timeoutMs: 5_000, retryMaxDelayMs: 60_000 },
    ...{ retrySchedule: null, status: 'active', pausedReason: null, environment: tenant.environment },
    ...{ createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z', secrets: [] },
    ...{ sealedHeaders: {}, epoch: 0 },
  }
  const { sql } = owner
  const row = { id: webhookId, workspace_id: tenant.workspaceId, environment: tenant.environment, version: 1 }
  await sql`insert into webhooks ${sql({ ...row, state: sql.json(state) })}`
}

const rows = () => owner.sql`
  select id, event_id, status, attempts, due_at, lease_owner, replay_of, created_at from deliveries order by id`

describe('rows from before deliveries had days', () => {
  it('are all there after the upgrade, and what was due is delivered', async () => {
    await insertWebhook()
    const succeeded = await insertBefore({ status: 'succeeded', daysAgo: 9, attempts: 1 })
    const failed = await insertBefore({ status: 'failed', daysAgo: 7, attempts: 3 })
    const waiting = [
      await insertBefore({ status: 'pending', daysAgo: 0, due_at: Date.now() }),
      await insertBefore({
        status: 'retrying',
        daysAgo: 5,
        due_at: Date.now(),
        lease_owner: 'dead',
        attempts: 2,
      }),
      await insertBefore({ status: 'held', daysAgo: 3 }),
      await insertBefore({
        status: 'pending',
        daysAgo: 1,
        due_at: 0,
        replay_of: failed.id,
        event_id: failed.event_id,
      }),
    ]
    const before = await rows()
    const attemptsBefore = await owner.sql`select * from delivery_attempts order by delivery_id, number`
    const eventsBefore = await owner.sql`select event_id, event::text from delivery_events order by event_id`

    const url = await earlier.upgrade()
    expect(await rows()).toEqual(before)
    expect(await owner.sql`select * from delivery_attempts order by delivery_id, number`).toEqual(
      attemptsBefore,
    )
    expect(await owner.sql`select event_id, event::text from delivery_events order by event_id`).toEqual(
      eventsBefore,
    )
    await earlier.upgrade()

    const env = { ...fixture.env, DATABASE_URL: url, NATS_PREFIX: uniquePrefix() }
    upgraded = await dispatcher.start(dispatcher.loadConfig(env))
    const due = waiting.map(({ event_id }) => event_id).sort()
    await waitFor(() => fixture.requestsTo('before').length >= due.length)
    const listed = await waitFor(async () => {
      const of = { webhookId }
      const page = await listDeliveries(owner, { tenant, of, limit: 50 })
      return page.items.filter(({ status }) => status === 'succeeded').length === 5 && page.items
    })
    expect(
      fixture
        .requestsTo('before')
        .map(({ headers }) => headers['webhook-id'])
        .sort(),
    ).toEqual(due)
    expect(listed.map(({ id }) => id)).toEqual(before.map(({ id }) => id).reverse())
    expect(new Set(listed.map(({ status }) => status))).toEqual(new Set(['succeeded', 'failed']))
    const detail = await getDelivery(owner, tenant, webhookId, waiting[1]?.id ?? '')
    expect(detail).toMatchObject({
      status: 'succeeded',
      attempts: 3,
      attemptLog: [{ number: 1 }, { number: 2 }, { number: 3 }],
    })
    expect((await getDelivery(owner, tenant, webhookId, succeeded.id)).attemptLog).toHaveLength(1)
  })
})
