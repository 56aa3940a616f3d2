import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { type RequestRounds, requestRounds } from './request-rounds.js'

const spacingMs = 20
let began = 0
let notify = () => {}
let rounds: RequestRounds
const again = () => {
  began++
  notify()
}
beforeEach(() => {
  began = 0
  rounds = requestRounds({ spacingMs, full: 10, again })
})
afterEach(() => {
  rounds.close()
})

/** Resolves when it asks the next time. */
const nextTime = () =>
  new Promise<void>((resolve) => {
    notify = resolve
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
  expect(began).toBe(0)
})

test('nothing is asked for between two rounds', async () => {
  round(2)
  expect(rounds.next(50)).toBeUndefined()
  await nextTime()
  expect(began).toBe(1)
  round(3)
})

test('what is known to wait from the last round is asked for at first, and not more than there is room for', async () => {
  round(2, 5)
  await nextTime()
  expect(rounds.next(50)).toBe(5)
  rounds.came(30, true)
  expect(rounds.next(20)).toBe(20)
})

test('where a full batch waits, the next round begins at once', async () => {
  rounds.close()
  rounds = requestRounds({ spacingMs: 600_000, full: 10, again })
  round(2, 10)
  await nextTime()
  expect(began).toBe(1)
  expect(rounds.next(50)).toBe(10)
})

test('what another replica was given in between is not waited for longer than to the next round', async () => {
  expect(rounds.next(50)).toBe(1)
  rounds.came(5, true)
  expect(rounds.next(50)).toBe(5)
  rounds.came(4, false)
  await nextTime()
  expect(began).toBe(1)
  expect(rounds.isGathering()).toBe(false)
})

test('after a request that ended with nothing the next one asks for whatever comes', async () => {
  round(2, 7)
  await nextTime()
  expect(rounds.next(50)).toBe(7)
  rounds.ended()
  expect(rounds.next(50)).toBe(1)
})

test('where a message comes again, a full batch of others that do may follow it, and then more', async () => {
  expect(rounds.next(50)).toBe(1)
  rounds.came(0, true, true)
  expect(rounds.next(50)).toBe(10)
  for (let left = 9; left >= 0; left--) rounds.came(0, left === 0, true)
  expect(rounds.next(50)).toBeUndefined()
  await nextTime()
  expect(rounds.next(50)).toBe(10)
})

test('what comes again does not count where all of it has come', async () => {
  expect(rounds.next(50)).toBe(1)
  rounds.came(0, true, true)
  expect(rounds.next(50)).toBe(10)
  rounds.came(0, false, true)
  await nextTime()
  rounds.ended()
  expect(rounds.next(50)).toBeUndefined()
  await nextTime()
  expect(rounds.next(50)).toBe(1)
})
