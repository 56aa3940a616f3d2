import { expect, test } from '@jest/globals'
import { failingSeed, InvariantError, simulate } from '@opsplane/testing'
import { DispatcherRun } from './dispatcher-run.fixture.js'
import { planted } from './planted.fixture.js'

test('each event is delivered or its delivery says why not, in order and by one replica, whatever happens', () =>
  simulate(60, (seed) => new DispatcherRun(seed)))

test.each(Object.entries(planted))('%s is found, and its seed shows it again', async (_, fault) => {
  const failed = await failingSeed(1_000, (seed) => new DispatcherRun(seed, fault))
  expect(failed?.error).toBeInstanceOf(InvariantError)
  if (!failed) return
  const again = await failingSeed(1, (seed) => new DispatcherRun(seed, fault), failed.seed)
  expect(again).toEqual(failed)
})
