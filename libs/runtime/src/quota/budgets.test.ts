import { setImmediate as turn } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import type { ApiError } from '@opsplane/contracts'
import { createBudgets, type GrantLeases } from './budgets.js'
import { createLimits } from './limits.js'

const limits = createLimits({
  limits: { workspaceRequestsPerMinute: 100, openPolls: 100, openPollsPerKey: 0 },
  workspaceLimits: { ws_big: { workspaceRequestsPerMinute: 200 } },
})

/** An in-memory authority that counts across replicas like Postgres does. `asked` are the requests it has received. */
function authority() {
  const leases = new Map<string, Map<string, number>>()
  let asked = 0
  const grantTo =
    (owner: string): GrantLeases =>
    async (asks) => {
      asked += asks.length
      return asks.map(({ name, holder, wanted, most, ms }) => {
        const owners = leases.get(`${name} ${holder}`) ?? new Map<string, number>()
        leases.set(`${name} ${holder}`, owners)
        const others = [...owners].reduce((sum, [other, amount]) => (other === owner ? sum : sum + amount), 0)
        const granted = Math.max(0, Math.min(wanted, most - others))
        owners.set(owner, granted)
        return { granted, forMs: ms }
      })
    }
  return { grantTo, asked: () => asked, forget: () => leases.clear() }
}

function clock() {
  let now = 0
  return {
    monotonicMs: () => now,
    pass: (ms: number) => {
      now += ms
    },
  }
}

/** Number of successful tries, with time for leases in between. */
async function successes(tries: number, action: () => void): Promise<number> {
  let count = 0
  for (let at = 0; at < tries; at++) {
    try {
      action()
      count++
    } catch {
      // Counted by the missing ones.
    }
    await turn()
    await turn()
  }
  return count
}

const mine = { workspaceId: 'ws_1' }

describe('a budget', () => {
  test('of a single replica equals its limit, per workspace and window', () => {
    const { monotonicMs, pass } = clock()
    const budgets = createBudgets({ limits, monotonicMs })
    const spend = (workspaceId: string, amount: number) => () =>
      budgets.spend('workspaceRequestsPerMinute', { workspaceId }, amount)
    spend('ws_1', 100)()
    expect(spend('ws_1', 1)).toThrow('The limit workspaceRequestsPerMinute is reached')
    spend('ws_2', 100)()
    spend('ws_big', 200)()
    expect(spend('ws_big', 1)).toThrow()
    pass(60_000)
    spend('ws_1', 100)()
  })

  test('reports its name and the delay until a retry when it is exhausted', () => {
    const { monotonicMs, pass } = clock()
    const budgets = createBudgets({ limits, monotonicMs })
    budgets.spend('workspaceRequestsPerMinute', mine, 100)
    pass(20_000)
    let refusal: ApiError | undefined
    try {
      budgets.spend('workspaceRequestsPerMinute', mine, 1)
    } catch (error) {
      refusal = error as ApiError
    }
    expect(refusal).toMatchObject({
      status: 429,
      headers: { 'Retry-After': '40' },
      details: [{ code: 'limit_reached', params: { limit: 'workspaceRequestsPerMinute', max: 100 } }],
    })
  })

  test('is shared by replicas, which lease blocks and not each request', async () => {
    const { grantTo, asked, forget } = authority()
    const { monotonicMs, pass } = clock()
    const replicas = ['a', 'b', 'c'].map((owner) =>
      createBudgets({ limits, grant: grantTo(owner), monotonicMs }),
    )
    let next = 0
    const spend = () => replicas[next++ % 3]?.spend('workspaceRequestsPerMinute', mine, 1)
    const spent = await successes(300, spend)
    expect(spent).toBeGreaterThanOrEqual(85)
    expect(spent).toBeLessThanOrEqual(115)
    expect(asked()).toBeLessThan(40)
    pass(60_000)
    forget()
    expect(await successes(60, spend)).toBe(60)
  })

  test('needs no lease request for workspaces that use little of it', async () => {
    const { grantTo, asked } = authority()
    const budgets = createBudgets({ limits, grant: grantTo('a'), ...clock() })
    for (let at = 0; at < 1_000; at++)
      budgets.spend('workspaceRequestsPerMinute', { workspaceId: `ws_${at}` }, 1)
    await turn()
    expect(asked()).toBe(0)
  })

  test('is local to the replica when no leases are granted', async () => {
    const grant = () => Promise.reject(new Error('away'))
    const budgets = createBudgets({ limits, grant, ...clock() })
    expect(await successes(150, () => budgets.spend('workspaceRequestsPerMinute', mine, 1))).toBe(100)
  })

  test('can be used again after a reservation is released, and only once', async () => {
    const { grantTo } = authority()
    const { monotonicMs, pass } = clock()
    const [here, there] = ['a', 'b'].map((owner) =>
      createBudgets({ limits, grant: grantTo(owner), monotonicMs }),
    )
    const held: (() => void)[] = []
    const take = () => {
      const release = here?.reserve('openPolls', mine, 1)
      if (release) held.push(release)
    }
    expect(await successes(150, take)).toBe(100)
    expect(await successes(50, () => there?.reserve('openPolls', mine, 1))).toBe(5)
    for (const release of held) {
      release()
      release()
    }
    pass(30_000)
    expect(await successes(10, take)).toBe(10)
    pass(1_000)
    expect(await successes(50, () => there?.reserve('openPolls', mine, 1))).toBeGreaterThan(40)
  })

  test('reports without throwing whether an amount fits, and spends only an amount that fits', () => {
    const budgets = createBudgets({ limits, ...clock() })
    const fit = [60, 60, 40, 1].map((amount) => budgets.fits('workspaceRequestsPerMinute', mine, amount))
    expect(fit).toEqual([true, false, true, false])
  })

  test('of 0 is unlimited', () => {
    const budgets = createBudgets({ limits, ...clock() })
    for (let at = 0; at < 1_000; at++) budgets.reserve('openPollsPerKey', { ...mine, key: 'tok' }, 1)
  })
})
