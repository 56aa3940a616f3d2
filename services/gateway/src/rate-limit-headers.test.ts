import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { computeBurst, createRateLimiter, type RateHeaders } from './rate-limit.js'

/** The values a client reads: quota, window, remaining units, and the time until all are available again. */
function grantOf(headers: RateHeaders) {
  const [, quota, window] = /^"default";q=(\d+);w=(\d+)$/.exec(headers['RateLimit-Policy'] ?? '') ?? []
  const [, remaining, reset] = /^"default";r=(\d+);t=(\d+)$/.exec(headers.RateLimit ?? '') ?? []
  return {
    quota: Number(quota),
    windowMs: Number(window) * 1_000,
    remaining: Number(remaining),
    resetMs: Number(reset) * 1_000,
  }
}

const configurations = fc
  .record({
    perMinute: fc.integer({ min: 1, max: 10_000 }),
    burst: fc.option(fc.integer({ min: 1, max: 1_000 })),
  })
  .map(({ perMinute, burst }) => ({ perMinute, burst: burst ?? computeBurst(perMinute) }))

function given({ perMinute, burst }: { perMinute: number; burst: number }) {
  let now = 0
  const limiter = createRateLimiter({ policy: 'default', perMinute, burst, monotonicMs: () => now })
  const send = (): boolean => {
    try {
      limiter.take('a')
      return true
    } catch {
      return false
    }
  }
  return {
    send,
    sendAll: (count: number) => Array.from({ length: count }, send).every((sent) => sent),
    grant: () => grantOf(limiter.state('a')),
    pass: (ms: number) => {
      now += ms
    },
  }
}

test('the remaining requests can be sent in a burst, and one more is rejected', () => {
  const pauses = fc.array(
    fc.record({ ms: fc.nat(90_000), share: fc.double({ min: 0, max: 1, noNaN: true }) }),
    {
      maxLength: 8,
    },
  )
  fc.assert(
    fc.property(configurations, pauses, (configuration, steps) => {
      const { send, sendAll, grant, pass } = given(configuration)
      for (const { ms, share } of steps) {
        expect(sendAll(Math.floor(grant().remaining * share))).toBe(true)
        pass(ms)
      }
      expect(sendAll(grant().remaining)).toBe(true)
      expect(send()).toBe(false)
    }),
  )
})

test('after the reset time a whole quota can be sent in a burst, and one more is rejected', () => {
  fc.assert(
    fc.property(configurations, fc.nat(1_000), fc.nat(59_999), (configuration, count, ms) => {
      const { send, sendAll, grant, pass } = given(configuration)
      pass(ms)
      sendAll(count)
      const { quota, resetMs } = grant()
      pass(resetMs)
      expect(grant()).toMatchObject({ remaining: quota, resetMs: 0 })
      expect(sendAll(quota)).toBe(true)
      expect(send()).toBe(false)
    }),
  )
})

test('one quota per window is never rejected, whether sent in a burst or evenly', () => {
  fc.assert(
    fc.property(configurations, fc.boolean(), (configuration, evenly) => {
      const { send, sendAll, grant, pass } = given(configuration)
      const { quota, windowMs } = grant()
      for (let window = 0; window < 3; window++) {
        if (evenly) {
          for (let sent = 0; sent < quota; sent++) {
            expect(send()).toBe(true)
            pass(windowMs / quota)
          }
        } else {
          expect(sendAll(quota)).toBe(true)
          expect(send()).toBe(false)
          pass(windowMs)
        }
      }
    }),
    { numRuns: 50 },
  )
})

test('the policy is stricter than the limit by less than a second of its window', () => {
  fc.assert(
    fc.property(configurations, ({ perMinute, burst }) => {
      const { quota, windowMs } = given({ perMinute, burst }).grant()
      expect(quota).toBe(burst)
      expect(windowMs - (burst / perMinute) * 60_000).toBeGreaterThanOrEqual(-1e-6)
      expect(windowMs - (burst / perMinute) * 60_000).toBeLessThan(1_000)
    }),
  )
})
