import { afterEach, beforeEach, expect, it, jest } from '@jest/globals'
import { createThrottledLog } from './throttle.js'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

it('says the first thing at once, and what follows together, so that none is left unsaid', () => {
  const said: number[] = []
  const say = createThrottledLog(() => said.push(Date.now()), 20)
  const begun = Date.now()
  say()
  expect(said).toEqual([begun])
  for (let n = 0; n < 5; n++) say()
  expect(said).toHaveLength(1)
  jest.advanceTimersByTime(20)
  expect(said).toEqual([begun, begun + 20])
  jest.advanceTimersByTime(100)
  expect(said).toHaveLength(2)
  say()
  expect(said).toEqual([begun, begun + 20, begun + 120])
})
