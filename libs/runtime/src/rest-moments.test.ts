import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { restMs, shortenRests, untilRestMoment } from './rest-moments.js'
import { systemTimers } from './timers.js'

// Time stands still, so that whoever waits and whoever looks do so at the same moment.
let shortened: number
beforeEach(() => {
  shortened = shortenRests(1)
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
  shortenRests(shortened)
})

describe('moments of rest', () => {
  const present = () => performance.timeOrigin + performance.now()
  const sinceMoment = (everyMs: number, leastMs?: number) => {
    const inMs = untilRestMoment(everyMs, leastMs)
    return { inMs, place: (present() + inMs) % everyMs }
  }

  it('are the same for whoever waits for them', () => {
    const everyMs = 3_600_000
    expect(sinceMoment(everyMs).place).toBeGreaterThanOrEqual(2_700)
    expect(sinceMoment(everyMs).place).toBeCloseTo(sinceMoment(everyMs, 10 * everyMs).place, -3)
  })

  it('are nearer where rests are shortened, but for a simulated clock', () => {
    shortenRests(10)
    expect(untilRestMoment(10_000)).toBeLessThanOrEqual(1_000 + 1_000 / 50 + 1)
    expect([restMs(5_000), restMs(5_000, { ...systemTimers })]).toEqual([500, 5_000])
  })

  it('of a longer step are moments of a shorter one', () => {
    const apart = untilRestMoment(3_600_000) - untilRestMoment(5_000)
    expect(Math.abs(apart / 5_000 - Math.round(apart / 5_000))).toBeLessThan(0.05)
  })

  it('are no sooner than wanted, and at most one step later', () => {
    for (const [everyMs, leastMs] of [
      [5_000, 100],
      [10_000, 5_000],
      [10_000, 290_000],
    ] as const) {
      const { inMs } = sinceMoment(everyMs, leastMs)
      expect(inMs).toBeGreaterThanOrEqual(leastMs - 1)
      expect(inMs).toBeLessThanOrEqual(leastMs + everyMs + 1)
    }
  })
})
