import { afterEach, describe, expect, it } from '@jest/globals'
import type { Database } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import { type Poller, startPoller } from './poller.js'

let poller: Poller | undefined
afterEach(() => poller?.close())

/**
 * The webhooks that were passed over in each claim until the poller rests. One delivery is always due unless its webhook is
 * passed over; it never finds room. A poller that does not rest of itself ends with the fifth claim.
 */
async function claimsUntilRest(full: () => string[]): Promise<string[][]> {
  const claims: string[][] = []
  await new Promise<void>((rest) => {
    const unsafe = async (query: string, parameters: string[][]) => {
      if (query.includes('end_deleted')) rest()
      if (!query.includes('claim_deliveries')) return []
      const [, , except = []] = parameters
      return claims.push(except) < 5 && !except.includes('wh_1') ? [{ webhook_id: 'wh_1' }] : []
    }
    poller = startPoller({
      database: { sql: { unsafe } } as unknown as Database,
      ...{ owner: 'me', leaseMs: 1_000, drainPerSecond: 10, consumer: 'test' },
      log: createLogger({ service: 'test', level: 'silent' }),
      begin: Promise.resolve(),
      now: () => performance.now(),
      full,
      room: () => ({ jobs: 100, bytes: 100 }),
      accept: async () => 0,
    })
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
