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

test('gathers messages until the server reports the end of the request', () => {
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

test('makes no request between two rounds', async () => {
  rounds.came(0, false)
  rounds.ended()
  expect(rounds.mayRequest()).toBe(false)
  await nextTime()
  expect(began).toBe(1)
  expect(rounds.mayRequest()).toBe(true)
})

test('ends a round once the requested amount has arrived', async () => {
  rounds.came(3, false)
  rounds.came(2, true)
  expect(rounds.isGathering()).toBe(false)
  expect(rounds.mayRequest()).toBe(false)
  await nextTime()
  expect(rounds.mayRequest()).toBe(true)
})

test('starts the next round immediately when a full batch is waiting', async () => {
  rounds.close()
  rounds = requestRounds({ spacingMs: 600_000, full: 10, again })
  rounds.came(11, false)
  rounds.came(10, true)
  await nextTime()
  expect(began).toBe(1)
  expect(rounds.mayRequest()).toBe(true)
})

test('allows the next request immediately after a request that ended empty', () => {
  rounds.ended()
  expect(rounds.mayRequest()).toBe(true)
  expect(began).toBe(0)
})

test('makes only one request per round while the request of another replica has precedence', async () => {
  rounds.refused()
  expect(rounds.mayRequest()).toBe(false)
  await nextTime()
  expect(rounds.mayRequest()).toBe(true)
})

test('stops gathering at the next round even if the server never reports the end of the request', async () => {
  rounds.came(5, false)
  await nextTime()
  expect(began).toBe(1)
  expect(rounds.isGathering()).toBe(false)
})

test('reads the interval between two rounds again for each round', async () => {
  rounds.close()
  let between = 600_000
  rounds = requestRounds({ spacingMs: () => between, full: 10, again })
  between = spacingMs
  rounds.came(1, true)
  await nextTime()
  expect(rounds.mayRequest()).toBe(true)
})
