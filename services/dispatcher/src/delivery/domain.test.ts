import { describe, expect, it } from '@jest/globals'
import { retryAfterMs } from '@opsplane/runtime'
import { type AttemptOutcome, decideAfterAttempt } from './domain.js'
import type { RetryPolicy } from './record/retry-delay.js'

const policy = (changes: Partial<RetryPolicy> = {}): RetryPolicy => ({
  retries: 3,
  retryStrategy: 'exponential',
  retryMaxDelayMs: 3_600_000,
  retrySchedule: null,
  ...changes,
})
const answered = (status: number, retryAfter?: number): AttemptOutcome => ({
  kind: 'answered',
  status,
  retryAfterMs: retryAfter,
})
const timedOut: AttemptOutcome = { kind: 'failed', error: { kind: 'timeout', message: 'too slow' } }

/** Delays before each retry until the delivery fails, in ms. */
function delays(changes: Partial<RetryPolicy>): number[] {
  const found: number[] = []
  for (let attempt = 1; ; attempt++) {
    const verdict = decideAfterAttempt(timedOut, policy(changes), attempt)
    if (verdict.status !== 'retrying') return found
    found.push(verdict.delayMs)
  }
}

describe('a delivery after an attempt', () => {
  it.each([200, 201, 204, 299])('succeeds with status %i', (status) => {
    expect(decideAfterAttempt(answered(status), policy(), 1)).toEqual({ status: 'succeeded' })
  })

  it.each([100, 199, 301, 302, 400, 404, 500, 503])('is retried with status %i', (status) => {
    expect(decideAfterAttempt(answered(status), policy(), 1)).toEqual({ status: 'retrying', delayMs: 2_000 })
  })

  it('fails after its last retry', () => {
    expect(decideAfterAttempt(timedOut, policy(), 3)).toMatchObject({ status: 'retrying' })
    expect(decideAfterAttempt(timedOut, policy(), 4)).toEqual({ status: 'failed', gone: false })
    expect(decideAfterAttempt(timedOut, policy({ retries: 0 }), 1)).toEqual({ status: 'failed', gone: false })
  })

  it('fails permanently with status 410, whatever retries remain', () => {
    expect(decideAfterAttempt(answered(410), policy(), 1)).toEqual({ status: 'failed', gone: true })
  })

  it.each<[string, Partial<RetryPolicy>, number[]]>([
    ['doubles from 2 s', {}, [2_000, 4_000, 8_000]],
    ['doubles up to the cap', { retries: 4, retryMaxDelayMs: 5_000 }, [2_000, 4_000, 5_000, 5_000]],
    ['stays at 5 s', { retryStrategy: 'fixed' }, [5_000, 5_000, 5_000]],
    ['keeps a low cap when fixed', { retryStrategy: 'fixed', retryMaxDelayMs: 1_000 }, [1_000, 1_000, 1_000]],
    [
      'follows a schedule',
      { retries: 4, retrySchedule: [30, 120, 600, 1800] },
      [30_000, 120_000, 600_000, 1_800_000],
    ],
    ['repeats the last of a schedule', { retrySchedule: [1, 7200] }, [1_000, 7_200_000, 7_200_000]],
  ])('%s', (_name, changes, expected) => {
    expect(delays(changes)).toEqual(expected)
  })

  it('waits as long as a busy endpoint requests, up to the cap', () => {
    expect(decideAfterAttempt(answered(429, 7_000), policy(), 1)).toEqual({
      status: 'retrying',
      delayMs: 7_000,
    })
    expect(decideAfterAttempt(answered(503, 1_000), policy(), 1)).toEqual({
      status: 'retrying',
      delayMs: 2_000,
    })
    expect(decideAfterAttempt(answered(429, 99_000), policy({ retryMaxDelayMs: 10_000 }), 1)).toEqual({
      status: 'retrying',
      delayMs: 10_000,
    })
    expect(decideAfterAttempt(answered(500, 7_000), policy(), 1)).toEqual({
      status: 'retrying',
      delayMs: 2_000,
    })
  })

  it('applies jitter to retries only if configured', () => {
    const verdict = decideAfterAttempt(timedOut, policy(), 1, { jitter: 0.1, random: 0 })
    expect(verdict).toEqual({ status: 'retrying', delayMs: 1_800 })
  })
})

describe('Retry-After', () => {
  const now = Date.parse('2026-01-01T00:00:00.000Z')
  it.each<[string | undefined, number | undefined]>([
    ['120', 120_000],
    [' 0 ', 0],
    ['Thu, 01 Jan 2026 00:00:30 GMT', 30_000],
    ['Wed, 31 Dec 2025 23:59:00 GMT', 0],
    ['soon', undefined],
    ['-1x', undefined],
    [undefined, undefined],
  ])('%s is %s ms', (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected)
  })
})
