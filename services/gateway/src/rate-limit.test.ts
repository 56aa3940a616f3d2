import { expect, test } from '@jest/globals'
import type { ApiError } from '@opsplane/contracts'
import { createRateLimiter } from './rate-limit.js'

function given(perMinute: number) {
  let now = 0
  const limiter = createRateLimiter({ policy: 'default', perMinute, monotonicMs: () => now })
  const refusal = () => {
    try {
      limiter.take('a')
    } catch (error) {
      return error as ApiError
    }
    return null
  }
  return {
    limiter,
    refusal,
    pass: (ms: number) => {
      now += ms
    },
  }
}

test('a minute has a limited number of requests, and a rejection states when the next is allowed', () => {
  const { limiter, refusal } = given(2)
  expect(limiter.take('a')).toEqual({
    'RateLimit-Policy': '"default";q=2;w=60',
    RateLimit: '"default";r=1;t=30',
  })
  limiter.take('a')
  expect(refusal()).toMatchObject({
    code: 'rate_limited',
    headers: { 'Retry-After': '30', RateLimit: '"default";r=0;t=60' },
  })
})

test('a bucket refills steadily and never above its size', () => {
  const { limiter, refusal, pass } = given(2)
  limiter.take('a')
  limiter.take('a')
  pass(29_999)
  expect(refusal()).not.toBeNull()
  pass(1)
  expect(refusal()).toBeNull()
  pass(600_000)
  expect(limiter.take('a').RateLimit).toBe('"default";r=1;t=30')
})

test('each key has its own bucket, and reading its state uses nothing', () => {
  const { limiter } = given(1)
  limiter.state('a')
  limiter.take('a')
  limiter.take('b')
  expect(limiter.state('a').RateLimit).toBe('"default";r=0;t=60')
  expect(() => limiter.take('a')).toThrow('Too many requests')
})

test('no number of other keys resets an empty bucket', () => {
  let now = 0
  const limiter = createRateLimiter({
    policy: 'default',
    perMinute: 1,
    monotonicMs: () => now,
    capacity: 100,
  })
  limiter.take('a')
  for (let at = 0; at < 10_000; at++) {
    try {
      limiter.take(`k${at}`)
    } catch {
      // New keys share the remaining buckets.
    }
  }
  expect(() => limiter.take('a')).toThrow('Too many requests')
  now += 60_000
  for (const key of ['a', 'k1', 'new key']) limiter.take(key)
})

test('a limit of 0 limits nothing and adds no headers', () => {
  const { limiter } = given(0)
  for (let count = 0; count < 1000; count++) expect(limiter.take('a')).toEqual({})
})
