import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { RunningService } from '@opsplane/runtime'
import { waitFor } from '@opsplane/testing'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'
import { type DispatcherProcess, spawnDispatcher } from '../fixture/dispatcher-process.js'
import * as dispatcher from '../service.js'

let fixture: DispatcherFixture
let first: DispatcherProcess | undefined
let second: RunningService | undefined
beforeAll(async () => {
  fixture = await startDispatcher({
    env: { WEBHOOK_LEASE_MS: '1000' },
    start: async (env) => {
      first = await spawnDispatcher(env)
      return first
    },
  })
})
afterAll(async () => {
  await second?.stop()
  await fixture?.stop()
})

describe('a dispatcher that is killed', () => {
  it('loses no delivery: another one attempts what was under way, queued or due', async () => {
    let killed = false
    const hang = { status: 200, delayMs: 60_000 }
    const answer = () => (killed ? { status: 200 } : hang)
    const hanging = await fixture.webhook('hanging', { timeout_ms: 2_000 }, answer)
    const retried = await fixture.webhook('retried', { retry_schedule: [3] }, () => ({
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

    await first?.kill()
    killed = true
    second = await dispatcher.start(dispatcher.loadConfig(fixture.env))

    const settled = await waitFor(
      async () => {
        const rows = await statuses()
        return rows.length === 61 && rows.every(({ status }) => status === 'succeeded') && rows
      },
      { timeoutMs: 30_000, message: 'every delivery' },
    )
    const expected = [...events.map(({ id }) => [hanging.id, id]), [retried.id, failed.id]]
    expect(settled.map((row) => [row.webhook_id, row.event_id]).sort()).toEqual(expected.sort())
    const received = new Set(fixture.requestsTo('hanging').map(({ headers }) => headers['webhook-id']))
    expect(received).toEqual(new Set(events.map(({ id }) => id)))
  })
})
