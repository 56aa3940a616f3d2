import { expect, test } from '@jest/globals'
import { failingSeed, InvariantError, simulate } from '@opsplane/testing'
import { ConsumerRun } from './consumer-run.fixture.js'
import { planted } from './planted.fixture.js'

test('a consumer has the effect of each event once, and acknowledges it then, whatever happens', () =>
  simulate(100, (seed) => new ConsumerRun(seed)))

test.each(Object.entries(planted))('%s is found, and its seed shows it again', async (_, fault) => {
  const failed = await failingSeed(1_000, (seed) => new ConsumerRun(seed, fault))
  expect(failed?.error).toBeInstanceOf(InvariantError)
  if (!failed) return
  const again = await failingSeed(1, (seed) => new ConsumerRun(seed, fault), failed.seed)
  expect(again).toEqual(failed)
})
