import { describe, expect, it } from '@jest/globals'
import { observeInvocation, observeTest } from '../health/observations.js'
import { CallFailure, type FailureDetails, type FailureKind } from '../kind/call-failure.js'
import { computeRetryDelayMs } from './attempts.js'

const policy = { attempts: 3, delayMs: 100, maxDelayMs: 150 }
const failed = (kind: FailureKind, details: Partial<FailureDetails> = {}) =>
  new CallFailure(kind, 'It failed.', { sent: true, ...details })
const wait = (
  failure: CallFailure,
  rest: { attempts?: number; repeatable?: boolean; remainingMs?: number } = {},
) => computeRetryDelayMs({ policy, failure, attempts: 1, repeatable: true, remainingMs: 10_000, ...rest })

describe('the next attempt', () => {
  it.each<[FailureKind, Partial<FailureDetails>, boolean, boolean]>([
    ['unreachable', { sent: false }, true, true],
    ['unreachable', { sent: true }, true, false],
    ['answered', { status: 500 }, true, false],
    ['answered', { status: 503 }, true, false],
    ['answered', { status: 429, sent: false }, true, true],
    ['answered', { status: 404 }, false, false],
    ['answered', { status: 200 }, false, false],
    ['timeout', {}, false, false],
    ['cancelled', {}, false, false],
    ['protocol', {}, false, false],
    ['secret', { sent: false }, false, false],
    ['blocked', { sent: false }, false, false],
  ])(
    'after %s %j is made for a repeatable action: %s, and for another action: %s',
    (kind, details, ...expected) => {
      const failure = failed(kind, details)
      const made = [true, false].map((repeatable) => wait(failure, { repeatable }) !== undefined)
      expect(made).toEqual(expected)
    },
  )

  it('is delayed by backoff and Retry-After, and not made after the deadline', () => {
    const failure = failed('unreachable')
    expect([1, 2, 3].map((attempts) => wait(failure, { attempts }))).toEqual([100, 150, undefined])
    const patient = failed('answered', { status: 503, retryAfterMs: 5_000 })
    expect([wait(patient), wait(patient, { remainingMs: 4_000 })]).toEqual([5_000, undefined])
    expect(wait(failure, { remainingMs: 100 })).toBeUndefined()
  })
})

describe('the observed health', () => {
  it.each<[FailureKind, number | undefined, string, string]>([
    ['unreachable', undefined, 'down', 'down'],
    ['timeout', undefined, 'down', 'down'],
    ['answered', 404, 'up', 'down'],
    ['answered', 401, 'up', 'down'],
    ['answered', 500, 'nothing', 'down'],
    ['answered', 503, 'down', 'down'],
    ['secret', undefined, 'nothing', 'down'],
    ['cancelled', undefined, 'nothing', 'nothing'],
  ])('after %s %s of an invocation is %s, of a test %s', (kind, status, ...expected) => {
    const failure = failed(kind, status === undefined ? {} : { status })
    expect([observeInvocation(failure).health, observeTest(failure).health]).toEqual(expected)
    expect([observeInvocation(undefined).health, observeTest(undefined).health]).toEqual(['up', 'up'])
  })
})
