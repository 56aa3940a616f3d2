import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import { throttle } from './throttle.js'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

it('calls immediately, and combines the calls that follow within the interval', () => {
  const calls: number[] = []
  const throttled = throttle(() => calls.push(Date.now()), 20)
  const startedAt = Date.now()
  throttled()
  expect(calls).toEqual([startedAt])
  for (let n = 0; n < 5; n++) throttled()
  expect(calls).toHaveLength(1)
  jest.advanceTimersByTime(20)
  expect(calls).toEqual([startedAt, startedAt + 20])
  jest.advanceTimersByTime(100)
  expect(calls).toHaveLength(2)
  throttled()
  expect(calls).toEqual([startedAt, startedAt + 20, startedAt + 120])
})
