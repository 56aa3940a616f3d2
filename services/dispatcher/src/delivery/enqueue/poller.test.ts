import { afterEach, describe, expect, it } from '@jest/globals'
import type { Database } from '@opsplane/postgres'
import { createLogger, systemTimers } from '@opsplane/runtime'
import { createDeliveryStore, type DeliveryStoreOptions } from '../delivery-store.js'
import type { DeliveryJob } from '../job.js'
import { enqueueClaimed } from './claimed-jobs.js'
import { DueSignal } from './due-signal.js'
import { type PollerOptions, startPoller } from './poller.js'
import type { Claimed } from './queue-statements.js'

let poller: ReturnType<typeof startPoller> | undefined
afterEach(() => poller?.close())

type Unsafe = (query: string, parameters: string[][]) => Promise<object[]>

const storeOf = (unsafe: Unsafe) =>
  createDeliveryStore({
    database: { sql: { unsafe } } as unknown as Database,
    ...{ owner: 'me', consumer: 'test' },
  } as DeliveryStoreOptions)

type Queues = PollerOptions['queues']

/** Queues that report room but reject every delivery. */
const fullQueues: Queues = {
  full: () => [],
  room: () => ({ jobs: 100, bytes: 100 }),
  reserve: () => false,
  submit: () => {},
}
const ordering = { finish: () => {} }

const start = (
  unsafe: Unsafe,
  { queues = {}, timers = systemTimers, leaseMs = 1_000 }: StartOptions = {},
) => {
  poller = startPoller({
    ...{ deliveries: storeOf(unsafe), queues: { ...fullQueues, ...queues }, ordering },
    ...{ timers, due: new DueSignal(timers), leaseMs, drainPerSecond: 10 },
    log: createLogger({ service: 'test', level: 'silent' }),
    reclaimed: Promise.resolve(),
  })
}

interface StartOptions extends Partial<Pick<PollerOptions, 'timers' | 'leaseMs'>> {
  queues?: Partial<Queues>
}

const dueDelivery = {
  ...{ id: 'del_1', webhook_id: 'wh_1', workspace_id: 'ws_1', environment: 'production', version: 1 },
  state: JSON.stringify({ status: 'active', timeoutMs: 1_000, rateLimitPerSecond: null }),
  event: '{"resource":{"id":"inc_1"},"causationId":null,"data":{}}',
}

/**
 * The webhooks skipped by each claim until the poller sleeps. One delivery is always due unless its webhook is skipped;
 * it never finds room. If the poller does not sleep by itself, the test ends it at the fifth claim.
 */
async function claimsUntilRest(full: () => string[]): Promise<string[][]> {
  const claims: string[][] = []
  await new Promise<void>((rest) => {
    const unsafe: Unsafe = async (query, parameters) => {
      if (query.includes('end_deleted')) rest()
      if (!query.includes('claim_deliveries')) return []
      const [, , except = []] = parameters
      return claims.push(except) < 5 && !except.includes('wh_1') ? [dueDelivery] : []
    }
    start(unsafe, { queues: { full } })
  })
  return claims
}

describe('a poller whose claims find no room', () => {
  it('rests instead of claiming the same deliveries again', async () => {
    expect(await claimsUntilRest(() => [])).toEqual([[]])
  })

  it('continues with other webhooks if it knows by then which ones to skip', async () => {
    let looks = 0
    expect(await claimsUntilRest(() => (looks++ === 0 ? [] : ['wh_1']))).toEqual([[], ['wh_1']])
  })
})

describe('a poller', () => {
  it('ends the deliveries of deleted webhooks while every claim finds more due work', async () => {
    let claims = 0
    await new Promise<void>((tidied) => {
      const unsafe: Unsafe = async (query) => {
        if (query.includes('end_deleted')) tidied()
        return query.includes('claim_deliveries') && ++claims < 100 ? [dueDelivery] : []
      }
      start(unsafe, { queues: { reserve: () => true } })
    })
    expect(claims).toBeLessThan(100)
  })

  it('claims the next due deliveries on time while the deliveries of deleted webhooks cannot be ended', async () => {
    // Each query takes a second.
    let nowMs = 0
    await new Promise<void>((again) => {
      let claims = 0
      const unsafe: Unsafe = async (query) => {
        if (query.includes('end_deleted')) throw new Error('refused')
        if (query.includes('claim_deliveries') && ++claims === 2) again()
        return query.includes('next_due_at') ? [{ ms: 20 }] : []
      }
      start(unsafe, { timers: { ...systemTimers, now: () => (nowMs += 1_000) } })
    })
    // Without a signal it would poll after ten seconds.
    expect(nowMs).toBeLessThan(10_000)
  })

  it('sends nothing with an expired lease, however late Postgres answers', async () => {
    const leaseMs = 15_000
    let nowMs = 0
    const unsafe: Unsafe = async (query) => {
      if (!query.includes('claim_deliveries') || nowMs > 0) return []
      nowMs += 5_000
      return [dueDelivery]
    }
    const job = await new Promise<DeliveryJob>((submit) => {
      const timers = { ...systemTimers, now: () => nowMs }
      start(unsafe, { leaseMs, timers, queues: { reserve: () => true, submit } })
    })
    expect(job.sendBefore).toBeLessThan(leaseMs)
  })

  it('continues the attempt count of claimed deliveries', async () => {
    const jobs: DeliveryJob[] = []
    const queues = { reserve: () => true, submit: (job: DeliveryJob) => void jobs.push(job) }
    const deliveries = storeOf(async () => [])
    const claimed = { ...dueDelivery, attempts: 2, cycle_base: 0 } as unknown as Claimed
    expect(await enqueueClaimed([claimed], 0, { deliveries, leaseMs: 1_000, queues, ordering })).toBe(1)
    expect(jobs).toMatchObject([{ attempts: 2, queueClass: 'retry' }])
  })

  it('releases a delivery claimed while its webhook changed, without treating the queue as full', async () => {
    const released: string[][] = []
    const unsafe: Unsafe = async (_, [, ids = []]) => {
      released.push(ids)
      return []
    }
    const options = { deliveries: storeOf(unsafe), leaseMs: 1_000, queues: fullQueues, ordering }
    const claimed = { id: 'del_1', webhook_id: 'wh_1', event: '{}', state: null } as Claimed
    expect(await enqueueClaimed([claimed], 0, options)).toBe(1)
    expect(released).toEqual([['del_1']])
  })
})
