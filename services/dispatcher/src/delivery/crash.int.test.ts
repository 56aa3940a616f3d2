import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { RunningService } from '@opsplane/runtime'
import { waitFor } from '@opsplane/testing'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'
import {
  type DispatcherProcess,
  type KillableDispatcher,
  spawnDispatcher,
  startKillable,
} from '../fixture/dispatcher-process.js'
import { createPausedBacklog } from '../fixture/paused-backlog.js'

let killable: KillableDispatcher
let fixture: DispatcherFixture
beforeAll(async () => {
  killable = await startKillable()
  fixture = killable.fixture
})
afterAll(() => killable?.stop())

describe('a dispatcher that is killed', () => {
  it('loses no delivery: another replica attempts those in flight, queued or due', async () => {
    let killed = false
    const hang = { status: 200, delayMs: 60_000 }
    const answer = () => (killed ? { status: 200 } : hang)
    // Enough retries to outlast the time until the process is killed.
    const retries = 20
    const hangs = { timeout_ms: 2_000, retries, retry_schedule: [1] }
    const hanging = await fixture.webhook('hanging', hangs, answer)
    const retried = await fixture.webhook('retried', { retries, retry_schedule: [3] }, () => ({
      status: killed ? 200 : 500,
    }))
    const events = await Promise.all(
      Array.from({ length: 60 }, () => fixture.publish({ type: 'hanging.created' })),
    )
    const failed = await fixture.publish({ type: 'retried.created' })
    await waitFor(() => fixture.requestsTo('hanging').length > 0 && fixture.requestsTo('retried').length > 0)
    const statuses = () => fixture.service.sql<{ webhook_id: string; status: string; event_id: string }[]>`
      select webhook_id, status, event_id from deliveries`
    await waitFor(async () => (await statuses()).some(({ status }) => status === 'retrying'))

    await killable.kill()
    killed = true
    await killable.startAnother()

    const settled = await waitFor(
      async () => {
        const rows = await statuses()
        return rows.length === 61 && rows.every(({ status }) => status === 'succeeded') && rows
      },
      { message: 'every delivery' },
    )
    const expected = [...events.map(({ id }) => [hanging.id, id]), [retried.id, failed.id]]
    expect(settled.map((row) => [row.webhook_id, row.event_id]).sort()).toEqual(expected.sort())
    const received = new Set(fixture.requestsTo('hanging').map(({ headers }) => headers['webhook-id']))
    expect(received).toEqual(new Set(events.map(({ id }) => id)))
  })
})

describe('a dispatcher that is restarted on the same host after a kill', () => {
  it('reclaims its deliveries long before their leases expire', async () => {
    let first: DispatcherProcess | undefined
    let second: DispatcherProcess | undefined
    const own = await startDispatcher({
      env: { WEBHOOK_LEASE_MS: '600000' },
      start: async (env) => {
        first = await spawnDispatcher(env)
        return first
      },
    })
    try {
      let killed = false
      const webhook = await own.webhook('back', { timeout_ms: 60_000 }, () =>
        killed ? { status: 200 } : { status: 200, delayMs: 600_000 },
      )
      for (let n = 0; n < 5; n++) await own.publish({ type: 'back.created' })
      const leased = () => own.service.sql`select from deliveries where lease_owner is not null`
      await waitFor(async () => (await leased()).length === 5)
      await first?.kill()
      killed = true
      second = await spawnDispatcher(own.env, { port: first?.port })
      await waitFor(async () => {
        const done = await own.service.sql`
          select from deliveries where webhook_id = ${webhook.id} and status = 'succeeded'`
        return done.length === 5
      })
    } finally {
      await second?.stop()
      await own.stop()
    }
  })
})

describe('a dispatcher that is killed while it ends the deliveries of a deleted webhook', () => {
  it('leaves the remaining deliveries to another replica', async () => {
    let first: DispatcherProcess | undefined
    let second: RunningService | undefined
    const own = await startDispatcher({
      start: async (env) => {
        first = await spawnDispatcher(env)
        return first
      },
    })
    try {
      const webhook = await createPausedBacklog(own, 'ending', 5_000)
      const { sql } = own.service
      const ended = async () => {
        const [row] = await sql<{ count: number }[]>`
          select count(*)::int from deliveries where webhook_id = ${webhook.id} and status = 'failed'`
        return row?.count ?? 0
      }
      // A row locked by another transaction is skipped.
      await sql.begin(async (tx) => {
        await tx`
          select from deliveries where id = (
            select id from deliveries where webhook_id = ${webhook.id} order by id offset 3500 limit 1) for update`
        await own.api.send('DELETE', `/webhooks/${webhook.id}`)
        await waitFor(async () => (await ended()) > 0)
        await first?.kill()
      })
      expect(await ended()).toBeLessThan(5_000)
      second = await own.service.replica()
      await waitFor(async () => (await ended()) === 5_000)
      await waitFor(
        async () => (await sql`select from webhook_queues where webhook_id = ${webhook.id}`).length === 0,
      )
      expect(own.requestsTo('ending')).toEqual([])
    } finally {
      await second?.stop()
      await own.stop()
    }
  })
})
