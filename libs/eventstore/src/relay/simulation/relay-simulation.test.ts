import { expect, test } from '@jest/globals'
import { failingSeed, InvariantError, simulate } from '@opsplane/testing'
import { injectedFaults } from './injected-faults.fixture.js'
import { RelayRun } from './relay-run.fixture.js'

test('the relay publishes all committed events in order, under all simulated faults', () =>
  simulate(100, (seed) => new RelayRun(seed)))

test.each(Object.entries(injectedFaults))(
  'detects an injected fault, and reproduces it from its seed: %s',
  async (_, fault) => {
    const failed = await failingSeed(1_000, (seed) => new RelayRun(seed, fault))
    expect(failed?.error).toBeInstanceOf(InvariantError)
    if (!failed) return
    const again = await failingSeed(1, (seed) => new RelayRun(seed, fault), failed.seed)
    expect(again).toEqual(failed)
  },
)
