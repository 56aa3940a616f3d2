import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { dispatcherEvents, Webhook } from '@opsplane/contracts'
import { type EventRecorder, recordEvents, waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'
import { createPausedBacklog } from '../../fixture/paused-backlog.js'

let fixture: DispatcherFixture
let recorder: EventRecorder
beforeAll(async () => {
  // Locks held by the tests block one connection while others are needed.
  fixture = await startDispatcher({ env: { DATABASE_POOL_SIZE: '6' } })
  recorder = await recordEvents(fixture.service.natsPrefix)
})
afterAll(async () => {
  await recorder?.stop()
  await fixture?.stop()
})

const pausedEvents = (id: string) =>
  recorder.published
    .map(({ event }) => event)
    .filter(({ type, resource }) => type === 'webhook.paused' && resource.id === id)

/** Publishes events one by one, each after the previous one has failed. */
async function fail(webhook: Webhook, name: string, times: number, alreadyFailed = 0) {
  for (let n = 1; n <= times; n++) {
    await fixture.publish({ type: `${name}.created` })
    await createDeliveryReader(fixture, webhook.id).having('failed', alreadyFailed + n)
  }
}

describe('a webhook', () => {
  it('pauses at the fifth failed delivery in a row, holds new deliveries, and sends them after a resume', async () => {
    let healthy = false
    const webhook = await fixture.webhook('sick', { retries: 0 }, () => ({ status: healthy ? 200 : 500 }))
    const seen = createDeliveryReader(fixture, webhook.id)
    await fail(webhook, 'sick', 4)
    expect(await seen.webhook()).toMatchObject({ status: 'active', consecutive_failures: 4 })
    await fail(webhook, 'sick', 1, 4)
    expect(await seen.webhook()).toMatchObject({
      status: 'paused',
      paused_reason: 'consecutive_failures',
      consecutive_failures: 5,
    })
    await waitFor(() => pausedEvents(webhook.id).length > 0)
    expect(pausedEvents(webhook.id)).toMatchObject([
      {
        actor: { type: 'system' },
        workspaceId: fixture.principal.workspaceId,
        data: {
          reason: 'consecutive_failures',
          consecutiveFailures: 5,
          changes: expect.arrayContaining(['status']),
        },
      },
    ])

    const missed = [
      await fixture.publish({ type: 'sick.created' }),
      await fixture.publish({ type: 'sick.updated' }),
    ]
    await seen.having('held', 2)
    expect(fixture.requestsTo('sick')).toHaveLength(5)

    healthy = true
    const resumed = await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'active' })
    expect(resumed.data(Webhook)).toMatchObject({ status: 'active', consecutive_failures: 0 })
    const delivered = await seen.having('succeeded', 2)
    expect(delivered.map(({ eventId }) => eventId).sort()).toEqual(missed.map(({ id }) => id).sort())
    expect(pausedEvents(webhook.id)).toHaveLength(1)
  })

  it('resets its failure count after a success and after a resume', async () => {
    let status = 500
    const webhook = await fixture.webhook('moody', { retries: 0 }, () => ({ status }))
    const seen = createDeliveryReader(fixture, webhook.id)
    await fail(webhook, 'moody', 4)
    status = 200
    await fixture.publish({ type: 'moody.created' })
    await seen.having('succeeded', 1)
    expect(await seen.webhook()).toMatchObject({ status: 'active', consecutive_failures: 0 })
    status = 500
    await fail(webhook, 'moody', 4, 4)
    expect(await seen.webhook()).toMatchObject({ status: 'active', consecutive_failures: 4 })

    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'paused' })
    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'active' })
    await fail(webhook, 'moody', 4, 8)
    expect(await seen.webhook()).toMatchObject({ status: 'active', consecutive_failures: 4 })
  })

  it('that is resumed ignores failures of attempts that began before the resume', async () => {
    let fail = () => {}
    const failing = new Promise<void>((resolve) => {
      fail = resolve
    })
    const webhook = await fixture.webhook('lasting', { retries: 0, timeout_ms: 60_000 }, async () => {
      await failing
      return { status: 500 }
    })
    const seen = createDeliveryReader(fixture, webhook.id)
    // One more than the initial concurrency of an endpoint; the fifth starts when another ends.
    for (let n = 0; n < 5; n++) await fixture.publish({ type: 'lasting.created' })
    await waitFor(() => fixture.requestsTo('lasting').length === 4)
    for (const status of ['paused', 'active']) await fixture.api.patch(`/webhooks/${webhook.id}`, { status })
    fail()
    await seen.having('failed', 5)
    expect(await seen.webhook()).toMatchObject({ status: 'active', consecutive_failures: 1 })
  })

  it('pauses immediately when the endpoint is gone, whatever retries remain', async () => {
    const webhook = await fixture.webhook('gone', {}, () => ({ status: 410 }))
    await fixture.publish({ type: 'gone.created' })
    const seen = createDeliveryReader(fixture, webhook.id)
    const [delivery] = await seen.having('failed', 1)
    expect(delivery?.attempts).toBe(1)
    expect(await seen.webhook()).toMatchObject({ status: 'paused', paused_reason: 'gone' })
  })

  it('paused by a person also holds its retries', async () => {
    let status = 500
    const webhook = await fixture.webhook('halted', { retry_schedule: [3_600] }, () => ({ status }))
    const seen = createDeliveryReader(fixture, webhook.id)
    await fixture.publish({ type: 'halted.created' })
    await seen.having('retrying', 1)
    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'paused' })
    const [held] = await seen.having('held', 1)
    expect(held).toMatchObject({ attempts: 1, nextAttemptAt: null })
    status = 200
    await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'active' })
    const [delivered] = await seen.having('succeeded', 1)
    expect(delivered).toMatchObject({ id: held?.id, attempts: 2 })
  })

  it('that is created paused holds deliveries from its first event', async () => {
    const webhook = await fixture.webhook('later', { status: 'paused' })
    await fixture.publish({ type: 'later.created' })
    await createDeliveryReader(fixture, webhook.id).having('held', 1)
    expect(fixture.requestsTo('later')).toEqual([])
  })

  it('that is deleted leaves no delivery waiting', async () => {
    const webhook = await fixture.webhook('doomed', { status: 'paused' })
    await fixture.publish({ type: 'doomed.created' })
    await createDeliveryReader(fixture, webhook.id).having('held', 1)
    await fixture.api.send('DELETE', `/webhooks/${webhook.id}`)
    const { sql } = fixture.service
    await waitFor(
      async () => (await sql`select from webhook_queues where webhook_id = ${webhook.id}`).length === 0,
    )
    const rows = await sql`select status, last_error_kind from deliveries where webhook_id = ${webhook.id}`
    expect([...rows]).toEqual([{ status: 'failed', last_error_kind: 'webhook_deleted' }])
    expect(fixture.requestsTo('doomed')).toEqual([])
  })

  it('that is deleted leaves only locked rows waiting, which are ended later', async () => {
    const { sql } = fixture.service
    const webhooks = [
      await createPausedBacklog(fixture, 'locked', 3),
      await createPausedBacklog(fixture, 'other', 3),
    ] as const
    const unfinished = ({ id }: Webhook) =>
      sql<{ id: string }[]>`select id from deliveries where webhook_id = ${id} and status = 'pending'`
    const [locked] = await unfinished(webhooks[0])
    await sql.begin(async (tx) => {
      await tx`select from deliveries where id = ${locked?.id ?? ''} for update`
      for (const { id } of webhooks) await fixture.api.send('DELETE', `/webhooks/${id}`)
      await waitFor(async () => (await unfinished(webhooks[1])).length === 0)
      expect(await unfinished(webhooks[0])).toEqual([locked])
    })
    const ids = webhooks.map(({ id }) => id)
    const queues = () => sql`select from webhook_queues where webhook_id = any (${ids})`
    await waitFor(async () => (await queues()).length === 0)
    expect(await unfinished(webhooks[0])).toEqual([])
  })

  it('pauses with the same lock order as a fan-out', async () => {
    const { sql } = fixture.service
    const { workspaceId = '' } = fixture.principal
    const respond = (_: unknown, count: number) => ({ status: count === 1 ? 500 : 410 })
    const webhook = await fixture.webhook('crossed', { retries: 0 }, respond)
    await fail(webhook, 'crossed', 1)
    const waiting = () =>
      sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await sql.begin(async (tx) => {
      await tx`
        select from webhook_revisions where workspace_id = ${workspaceId} and environment = 'production' for share`
      await fixture.publish({ type: 'crossed.created' })
      await waitFor(async () => (await waiting()).length > 0)
      await tx`select from webhook_health where webhook_id = ${webhook.id} for update nowait`
    })
    const seen = createDeliveryReader(fixture, webhook.id)
    await seen.having('failed', 2)
    expect(await seen.webhook()).toMatchObject({ status: 'paused', paused_reason: 'gone' })
  })

  it('pauses with the same lock order as a change of the webhook', async () => {
    const { sql } = fixture.service
    const { workspaceId = '' } = fixture.principal
    const webhook = await fixture.webhook('changed', { retries: 0 }, () => ({ status: 410 }))
    const waiting = () =>
      sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
    await sql.begin(async (tx) => {
      await tx`select from webhooks where id = ${webhook.id} for no key update`
      await fixture.publish({ type: 'changed.created' })
      await waitFor(async () => (await waiting()).length > 0)
      await tx`
        select from webhook_revisions where workspace_id = ${workspaceId} and environment = 'production'
        for no key update nowait`
    })
    const seen = createDeliveryReader(fixture, webhook.id)
    await seen.having('failed', 1)
    expect(await seen.webhook()).toMatchObject({ status: 'paused', paused_reason: 'gone' })
  })

  it('that this replica pauses starts no first attempts afterwards', async () => {
    const { sql } = fixture.service
    const { workspaceId = '' } = fixture.principal
    const webhook = await fixture.webhook('stopped', {}, () => ({ status: 410 }))
    await fixture.webhook('witness', { events: ['stopped.updated'] })
    let later: Promise<unknown> | undefined
    await sql.begin(async (tx) => {
      const waiting = async (count: number) => {
        await tx`select pg_stat_clear_snapshot()`
        const waits = await tx`
          select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
        return waits.length >= count
      }
      await tx`
        select from webhook_revisions where workspace_id = ${workspaceId} and environment = 'production' for share`
      await fixture.publish({ type: 'stopped.created' })
      await waitFor(() => waiting(1))
      // This transaction gets the revisions right after the pause, before a fan-out reads the new ones.
      later = sql.begin(async (next) => {
        await next`
          select from webhook_revisions where workspace_id = ${workspaceId} and environment = 'production' for update`
        await fixture.publish({ type: 'stopped.updated' })
        await waitFor(() => fixture.requestsTo('witness').length === 1)
      })
      await waitFor(() => waiting(2))
    })
    await later
    await createDeliveryReader(fixture, webhook.id).having('held', 1)
    expect(fixture.requestsTo('stopped')).toHaveLength(1)
  })

  it('publishes its events as declared', async () => {
    const webhook = await fixture.webhook('declared', { secret: 'hush', filter: { 'data.a': 1 } })
    for (const change of [{ name: 'New' }, { status: 'paused' }, { status: 'active' }])
      await fixture.api.patch(`/webhooks/${webhook.id}`, change)
    await fixture.api.send('DELETE', `/webhooks/${webhook.id}`)
    const own = await waitFor(() => {
      const found = recorder.published.filter(({ event }) => event.resource.id === webhook.id)
      return found.length === 5 && found.map(({ event }) => event)
    })
    expect(own.map(({ type }) => type)).toEqual([
      'webhook.created',
      'webhook.updated',
      'webhook.paused',
      'webhook.resumed',
      'webhook.deleted',
    ])
    const definitions = new Map(Object.entries(dispatcherEvents))
    for (const { type, data } of own) {
      expect(definitions.get(type)?.data.safeParse(data).error).toBeUndefined()
      expect(JSON.stringify(data)).not.toMatch(/hush|sealed/)
    }
  })
})
