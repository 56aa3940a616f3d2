import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { type RequestRounds, requestRounds } from './request-rounds.js'

const spacingMs = 100
const again = jest.fn()
let rounds: RequestRounds
beforeEach(() => {
  jest.useFakeTimers()
  again.mockClear()
  rounds = requestRounds({ spacingMs, full: 10, again })
})
afterEach(() => {
  rounds.close()
  jest.useRealTimers()
})

/** A round of which the first message says that so many wait behind it, and the last that so many came meanwhile. */
function round(behind: number, meanwhile = 0) {
  expect(rounds.next(50)).toBe(1)
  rounds.came(behind, true)
  expect(rounds.next(50)).toBe(behind)
  for (let left = behind - 1; left >= 0; left--) rounds.came(left + meanwhile, left === 0)
}

test('one message is asked for, and then those that have gathered behind it, which are waited for', () => {
  expect(rounds.next(50)).toBe(1)
  rounds.came(2, true)
  expect(rounds.isGathering()).toBe(false)
  expect(rounds.next(50)).toBe(2)
  expect(rounds.isGathering()).toBe(true)
  rounds.came(1, false)
  expect(rounds.isGathering()).toBe(true)
  rounds.came(0, true)
  expect(rounds.isGathering()).toBe(false)
  expect(again).not.toHaveBeenCalled()
})

test('nothing is asked for between two rounds', () => {
  round(2)
  expect(rounds.next(50)).toBeUndefined()
  jest.advanceTimersByTime(spacingMs - 1)
  expect(rounds.next(50)).toBeUndefined()
  jest.advanceTimersByTime(1)
  expect(again).toHaveBeenCalledTimes(1)
  round(3)
})

test('what is known to wait from the last round is asked for at first, and not more than there is room for', () => {
  round(2, 5)
  jest.advanceTimersByTime(spacingMs)
  expect(rounds.next(50)).toBe(5)
  rounds.came(30, true)
  expect(rounds.next(20)).toBe(20)
})

test('where a full batch waits, the next round begins at once', () => {
  round(2, 10)
  jest.advanceTimersByTime(1)
  expect(again).toHaveBeenCalledTimes(1)
  expect(rounds.next(50)).toBe(10)
})

test('what another replica was given in between is not waited for longer than to the next round', () => {
  expect(rounds.next(50)).toBe(1)
  rounds.came(5, true)
  expect(rounds.next(50)).toBe(5)
  rounds.came(4, false)
  jest.advanceTimersByTime(spacingMs)
  expect(again).toHaveBeenCalledTimes(1)
  expect(rounds.isGathering()).toBe(false)
})

test('after a request that ended with nothing the next one asks for whatever comes', () => {
  round(2, 7)
  jest.advanceTimersByTime(spacingMs)
  expect(rounds.next(50)).toBe(7)
  rounds.ended()
  expect(rounds.next(50)).toBe(1)
})
