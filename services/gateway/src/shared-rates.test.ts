import { expect, test } from '@jest/globals'
import { createRateLimiter } from './rate-limit.js'
import { createSharedRates, type RateSpend } from './shared-rates.js'

const perMinute = 100

/** Gateways with one clock, and a counter shared by all of them. */
function given({ gateways = 2 } = {}) {
  let now = 0
  let away = false
  let questions = 0
  const left = new Map<string, { tokens: number; at: number }>()
  const spendOne = ({ key, spent, seconds, burst, perSecond }: RateSpend) => {
    const known = left.get(key)
    const before = known ? known.tokens + ((now - known.at) / 1_000) * perSecond : burst + seconds * perSecond
    const tokens = Math.min(burst, Math.max(-burst, before - spent))
    left.set(key, { tokens, at: now })
    return tokens
  }
  const ask = async (spends: RateSpend[]) => {
    questions++
    if (away) throw new Error('away')
    return spends.map(spendOne)
  }
  const monotonicMs = () => now
  const limiters = Array.from({ length: gateways }, () =>
    createRateLimiter({
      policy: 'default',
      perMinute,
      monotonicMs,
      shared: createSharedRates(ask, monotonicMs),
    }),
  )
  /** Sends requests alternately to the gateways; resolves with the number that were accepted. */
  const flood = async (count: number, key = 'a') => {
    let through = 0
    for (let n = 0; n < count; n++) {
      try {
        limiters[n % gateways]?.take(key)
        through++
      } catch {
        // Rejected.
      }
      await new Promise((resolve) => setImmediate(resolve))
    }
    return through
  }
  return {
    limiters,
    flood,
    questions: () => questions,
    setAway: (value: boolean) => {
      away = value
    },
    pass: (ms: number) => {
      now += ms
    },
  }
}

/** A twentieth of the limit for each gateway. */
const most = (gateways: number, limit = perMinute) => limit + (gateways * perMinute) / 20

test.each([1, 2, 5])(
  '%i gateways together admit the limit plus at most a twentieth each',
  async (gateways) => {
    const { flood } = given({ gateways })
    const through = await flood(1_000)
    expect(through).toBeGreaterThanOrEqual(perMinute)
    expect(through).toBeLessThanOrEqual(most(gateways))
  },
)

test('gateways stay within the shared limit in the long run, at a pace each would allow alone', async () => {
  const { flood, pass } = given()
  let through = 0
  const minutes = 3
  for (let second = 0; second < minutes * 60; second++) {
    pass(1_000)
    through += await flood(4)
  }
  expect(through).toBeLessThanOrEqual(most(2, perMinute + minutes * perMinute))
  expect(through).toBeGreaterThanOrEqual(minutes * perMinute)
})

test('each gateway reports the shared remainder, accurate to a twentieth', async () => {
  const { limiters, flood } = given()
  await flood(40)
  for (const limiter of limiters) {
    const left = Number(/r=(\d+)/.exec(limiter.state('a').RateLimit ?? '')?.[1])
    expect(left).toBeGreaterThanOrEqual(60)
    expect(left).toBeLessThanOrEqual(65)
  }
})

test('the shared counter is requested only once for each twentieth', async () => {
  const { flood, questions } = given({ gateways: 1 })
  await flood(1_000)
  expect(questions()).toBe(20)
})

test('without the shared counter each gateway applies the limit alone, and reports its usage later', async () => {
  const { flood, setAway, pass, questions } = given()
  setAway(true)
  expect(await flood(1_000)).toBe(2 * perMinute)
  expect(questions()).toBeLessThanOrEqual(2)
  setAway(false)
  pass(6_000)
  // Ten units were refilled at each gateway; the first report shows that the shared bucket is below zero.
  expect(await flood(1_000)).toBeLessThanOrEqual(10)
  pass(60_000)
  expect(await flood(1_000)).toBeLessThanOrEqual(most(2, 20))
})

test('keys have separate remainders', async () => {
  const { flood } = given()
  await flood(1_000)
  expect(await flood(10, 'b')).toBe(10)
})
