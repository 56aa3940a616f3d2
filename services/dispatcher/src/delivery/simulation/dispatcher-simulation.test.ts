import { expect, test } from '@jest/globals'
import { failingSeed, InvariantError, isLongTier, simulate } from '@opsplane/testing'
import { DispatcherRun } from './dispatcher-run.fixture.js'
import { plantedFaults } from './planted-faults.fixture.js'

test('each event is delivered, or its delivery has a reason of failure, in order and by one replica, despite faults', () =>
  simulate(40, (seed) => new DispatcherRun(seed)))

/** The first seeds that reveal these faults. The fast tier starts there, and its runs without faults include them. */
const near: Readonly<Record<string, number>> = {
  'webhooks that are read once and for all': 30,
  'a rate limit that is each replica’s own': 26,
}

test.each(Object.entries(plantedFaults))(
  'the simulation detects %s, and its seed reproduces the failure',
  async (name, fault) => {
    const from = isLongTier() ? 1 : near[name]
    const failed = await failingSeed(1_000, (seed) => new DispatcherRun(seed, fault), from)
    expect(failed?.error).toBeInstanceOf(InvariantError)
    if (!failed) return
    const again = await failingSeed(1, (seed) => new DispatcherRun(seed, fault), failed.seed)
    expect(again).toEqual(failed)
  },
)
