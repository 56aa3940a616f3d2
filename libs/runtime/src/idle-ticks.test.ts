import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals'
import { idleIntervalMs, msToIdleTick, shortenIdleIntervals } from './idle-ticks.js'
import { systemTimers } from './timers.js'

// Time is frozen, so that waiting and checking happen at the same instant.
let shortened: number
beforeEach(() => {
  shortened = shortenIdleIntervals(1)
  jest.useFakeTimers()
})
afterEach(() => {
  jest.useRealTimers()
  shortenIdleIntervals(shortened)
})

describe('idle ticks', () => {
  const present = () => performance.timeOrigin + performance.now()
  const sinceMoment = (everyMs: number, leastMs?: number) => {
    const inMs = msToIdleTick(everyMs, leastMs)
    return { inMs, place: (present() + inMs) % everyMs }
  }

  it('are the same instants for all waiters', () => {
    const everyMs = 3_600_000
    expect(sinceMoment(everyMs).place).toBeGreaterThanOrEqual(2_700)
    expect(sinceMoment(everyMs).place).toBeCloseTo(sinceMoment(everyMs, 10 * everyMs).place, -3)
  })

  it('are nearer when idle intervals are shortened, except with a simulated clock', () => {
    shortenIdleIntervals(10)
    expect(msToIdleTick(10_000)).toBeLessThanOrEqual(1_000 + 1_000 / 50 + 1)
    expect([idleIntervalMs(5_000), idleIntervalMs(5_000, { ...systemTimers })]).toEqual([500, 5_000])
  })

  it('of a longer interval are also ticks of a shorter one', () => {
    const apart = msToIdleTick(3_600_000) - msToIdleTick(5_000)
    expect(Math.abs(apart / 5_000 - Math.round(apart / 5_000))).toBeLessThan(0.05)
  })

  it('are no earlier than requested, and at most one interval later', () => {
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
