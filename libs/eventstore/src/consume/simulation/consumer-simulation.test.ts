import { expect, test } from '@jest/globals'
import { failingSeed, InvariantError, isLongTier, simulate } from '@opsplane/testing'
import { ConsumerRun } from './consumer-run.fixture.js'
import { injectedFaults } from './injected-faults.fixture.js'

test('a consumer applies each event exactly once before acknowledging it, under all simulated faults', () =>
  simulate(40, (seed) => new ConsumerRun(seed)))

/** The first seeds that expose these faults: the fast tier starts there, and its fault-free runs include them. */
const near: Readonly<Record<string, number>> = {
  'a place that is ahead of what is acknowledged': 33,
  'a log that is read from too late a position': 28,
}

test.each(Object.entries(injectedFaults))(
  'detects an injected fault, and reproduces it from its seed: %s',
  async (name, fault) => {
    const from = isLongTier() ? 1 : near[name]
    const failed = await failingSeed(1_000, (seed) => new ConsumerRun(seed, fault), from)
    expect(failed?.error).toBeInstanceOf(InvariantError)
    if (!failed) return
    const again = await failingSeed(1, (seed) => new ConsumerRun(seed, fault), failed.seed)
    expect(again).toEqual(failed)
  },
)
