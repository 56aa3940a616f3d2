import { expect, test } from '@jest/globals'
import { failingSeed, InvariantError, simulate } from '@opsplane/testing'
import { injectedFaults } from './injected-faults.fixture.js'
import { RelayRun } from './relay-run.fixture.js'

test('the relay publishes what is committed, and in order, whatever happens', () =>
  simulate(100, (seed) => new RelayRun(seed)))

test.each(Object.entries(injectedFaults))('%s is found, and its seed shows it again', async (_, fault) => {
  const failed = await failingSeed(1_000, (seed) => new RelayRun(seed, fault))
  expect(failed?.error).toBeInstanceOf(InvariantError)
  if (!failed) return
  const again = await failingSeed(1, (seed) => new RelayRun(seed, fault), failed.seed)
  expect(again).toEqual(failed)
})
