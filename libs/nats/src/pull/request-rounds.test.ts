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

/** Resolves at the next request. */
const nextTime = () =>
  new Promise<void>((resolve) => {
    notify = resolve
  })

test('what has gathered is waited for until the server says that this was all', () => {
  expect(rounds.mayRequest()).toBe(true)
  expect(rounds.isGathering()).toBe(false)
  rounds.came(1, false)
  expect(rounds.isGathering()).toBe(true)
  rounds.came(0, false)
  expect(rounds.isGathering()).toBe(true)
  rounds.ended()
  expect(rounds.isGathering()).toBe(false)
  expect(rounds.mayRequest()).toBe(false)
  expect(began).toBe(0)
})

test('nothing is asked for between two rounds', async () => {
  rounds.came(0, false)
  rounds.ended()
  expect(rounds.mayRequest()).toBe(false)
  await nextTime()
  expect(began).toBe(1)
  expect(rounds.mayRequest()).toBe(true)
})

test('a round that takes as much as was asked for is over', async () => {
  rounds.came(3, false)
  rounds.came(2, true)
  expect(rounds.isGathering()).toBe(false)
  expect(rounds.mayRequest()).toBe(false)
  await nextTime()
  expect(rounds.mayRequest()).toBe(true)
})

test('where a full batch waits, the next round begins at once', async () => {
  rounds.close()
  rounds = requestRounds({ spacingMs: 600_000, full: 10, again })
  rounds.came(11, false)
  rounds.came(10, true)
  await nextTime()
  expect(began).toBe(1)
  expect(rounds.mayRequest()).toBe(true)
})

test('after a request that ended with nothing the next one is due at once', () => {
  rounds.ended()
  expect(rounds.mayRequest()).toBe(true)
  expect(began).toBe(0)
})

test('while another replica has asked for what waits, this one asks no more often than rounds begin', async () => {
  rounds.refused()
  expect(rounds.mayRequest()).toBe(false)
  await nextTime()
  expect(rounds.mayRequest()).toBe(true)
})

test('what has come is handled though the server never says that this was all', async () => {
  rounds.came(5, false)
  await nextTime()
  expect(began).toBe(1)
  expect(rounds.isGathering()).toBe(false)
})

test('the time between two rounds is asked for at each one', async () => {
  rounds.close()
  let between = 600_000
  rounds = requestRounds({ spacingMs: () => between, full: 10, again })
  between = spacingMs
  rounds.came(1, true)
  await nextTime()
  expect(rounds.mayRequest()).toBe(true)
})
