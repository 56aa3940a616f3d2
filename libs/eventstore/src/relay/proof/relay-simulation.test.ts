import { describe, expect, test } from '@jest/globals'
import { simulate } from '@opsplane/testing'
import { planted } from './planted.fixture.js'
import { RelayRun } from './relay-run.fixture.js'

test('the relay publishes what is committed, once and in order, whatever happens', async () => {
  await simulate({ runs: 300, run: (seed) => new RelayRun(seed) })
})

describe('a planted fault', () => {
  test.each(Object.entries(planted))('%s is found', async (_, fault) => {
    await expect(
      simulate({ runs: 1_000, most: 1_000, run: (seed) => new RelayRun(seed, fault) }),
    ).rejects.toThrow('SIMULATION_SEED')
  })
})
