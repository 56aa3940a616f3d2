import { afterEach, describe, expect, it } from '@jest/globals'
import type { Database } from '@opsplane/postgres'
import { createLogger, systemTimers } from '@opsplane/runtime'
import { createDeliveryStore, type DeliveryStoreOptions } from '../delivery-store.js'
import type { DeliveryJob } from '../job.js'
import { createAcceptJobs } from './claimed-jobs.js'
import { type Poller, type PollerOptions, startPoller } from './poller.js'
import type { Claimed } from './queue-statements.js'

let poller: Poller | undefined
afterEach(() => poller?.close())

type Unsafe = (query: string, parameters: string[][]) => Promise<object[]>

const storeOf = (unsafe: Unsafe) =>
  createDeliveryStore({
    database: { sql: { unsafe } } as unknown as Database,
    ...{ owner: 'me', consumer: 'test' },
  } as DeliveryStoreOptions)

const start = (unsafe: Unsafe, options: Partial<PollerOptions> = {}) => {
  poller = startPoller({
    deliveries: storeOf(unsafe),
    ...{ timers: systemTimers, leaseMs: 1_000, drainPerSecond: 10 },
    log: createLogger({ service: 'test', level: 'silent' }),
    begin: Promise.resolve(),
    full: () => [],
    room: () => ({ jobs: 100, bytes: 100 }),
    accept: async () => 0,
    ...options,
  })
}

/**
 * The webhooks that were passed over in each claim until the poller rests. One delivery is always due unless its webhook is
 * passed over; it never finds room. A poller that does not rest of itself ends with the fifth claim.
 */
async function claimsUntilRest(full: () => string[]): Promise<string[][]> {
  const claims: string[][] = []
  await new Promise<void>((rest) => {
    const unsafe: Unsafe = async (query, parameters) => {
      if (query.includes('end_deleted')) rest()
      if (!query.includes('claim_deliveries')) return []
      const [, , except = []] = parameters
      return claims.push(except) < 5 && !except.includes('wh_1') ? [{ webhook_id: 'wh_1' }] : []
    }
    start(unsafe, { full })
  })
  return claims
}

describe('a poller whose claims find no room', () => {
  it('rests instead of claiming the same again', async () => {
    expect(await claimsUntilRest(() => [])).toEqual([[]])
  })

  it('goes on with the others where it is known by then whom to pass over', async () => {
    let looks = 0
    expect(await claimsUntilRest(() => (looks++ === 0 ? [] : ['wh_1']))).toEqual([[], ['wh_1']])
  })
})

describe('a poller', () => {
  it('ends what deleted webhooks left while more is due with each claim', async () => {
    let claims = 0
    await new Promise<void>((tidied) => {
      const unsafe: Unsafe = async (query) => {
        if (query.includes('end_deleted')) tidied()
        return query.includes('claim_deliveries') && ++claims < 100 ? [{ webhook_id: 'wh_1' }] : []
      }
      start(unsafe, { accept: async (claimed) => claimed.length })
    })
    expect(claims).toBeLessThan(100)
  })

  it('claims what is due next in time while nothing can be ended', async () => {
    // A second passes with each query.
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
    // Without word of what is due it looks after ten.
    expect(nowMs).toBeLessThan(10_000)
  })

  it('has nothing sent that was leased too long ago, however late Postgres answers', async () => {
    const leaseMs = 15_000
    let nowMs = 0
    const state = JSON.stringify({ status: 'active', timeoutMs: 1_000, rateLimitPerSecond: null })
    const webhook = { webhook_id: 'wh_1', workspace_id: 'ws_1', environment: 'production', version: 1, state }
    const claimed = {
      ...webhook,
      id: 'del_1',
      event: '{"resource":{"id":"inc_1"},"causationId":null,"data":{}}',
    }
    const unsafe: Unsafe = async (query) => {
      if (!query.includes('claim_deliveries') || nowMs > 0) return []
      nowMs += 5_000
      return [claimed]
    }
    const job = await new Promise<DeliveryJob>((submit) => {
      const sender = { reserve: () => true, submit }
      const accept = createAcceptJobs({ deliveries: storeOf(unsafe), leaseMs, sender, finished: () => {} })
      start(unsafe, { leaseMs, timers: { ...systemTimers, now: () => nowMs }, accept })
    })
    expect(job.sendBefore).toBeLessThan(leaseMs)
  })

  it('goes on counting the attempts of what it claimed', async () => {
    const jobs: DeliveryJob[] = []
    const sender = { reserve: () => true, submit: (job: DeliveryJob) => void jobs.push(job) }
    const accept = createAcceptJobs({
      deliveries: storeOf(async () => []),
      ...{ leaseMs: 1_000, sender, finished: () => {} },
    })
    const claimed = {
      ...{ id: 'del_1', webhook_id: 'wh_1', workspace_id: 'ws_1', environment: 'production', version: 1 },
      ...{ attempts: 2, cycle_base: 0, event: '{"resource":{"id":"inc_1"},"causationId":null,"data":{}}' },
      state: JSON.stringify({ status: 'active', timeoutMs: 1_000, rateLimitPerSecond: null }),
    } as unknown as Claimed
    expect(await accept([claimed], 0)).toBe(1)
    expect(jobs).toMatchObject([{ attempts: 2, queueClass: 'retry' }])
  })

  it('gives back what it claimed as the webhook was changed, which may have room for it', async () => {
    const released: string[][] = []
    const unsafe: Unsafe = async (_, [, ids = []]) => {
      released.push(ids)
      return []
    }
    const sender = { reserve: () => true, submit: () => {} }
    const accept = createAcceptJobs({
      deliveries: storeOf(unsafe),
      leaseMs: 1_000,
      sender,
      finished: () => {},
    })
    const claimed = { id: 'del_1', webhook_id: 'wh_1', event: '{}', state: null } as Claimed
    expect(await accept([claimed], 0)).toBe(1)
    expect(released).toEqual([['del_1']])
  })
})
