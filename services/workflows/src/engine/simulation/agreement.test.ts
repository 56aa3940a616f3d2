import { expect, test } from '@jest/globals'
import type { WorkflowDefinition } from '@opsplane/contracts'
import fc from 'fast-check'
import { definitions } from './definitions.fixture.js'
import type { Observed } from './endings.fixture.js'
import { Reference } from './reference.fixture.js'
import { SimulatedEngine } from './simulated-engine.fixture.js'
import { createSimulatedWorld, type SimulatedWorldOptions } from './simulated-world.fixture.js'

const runs = Number(process.env.ENGINE_RUNS ?? 150)
const seed = Number(process.env.ENGINE_SEED ?? 20_261_122)

interface Scenario {
  definition: WorkflowDefinition
  world: SimulatedWorldOptions
  /** Attempts of the run in order: cancelled after `cancelAfterMs`, then retried from `retryFrom`. */
  attempts: { cancelAfterMs: number | null; retryFrom: number | null; newKey: boolean }[]
}

const never = fc.constant(null)
const scenarios: fc.Arbitrary<Scenario> = fc.record({
  definition: definitions,
  world: fc.record({
    seed: fc.nat(),
    failing: fc.constantFrom(0, 0.1, 0.3, 0.6),
    retryable: fc.constantFrom(0.3, 0.9),
  }),
  attempts: fc.array(
    fc.record({
      cancelAfterMs: fc.oneof(never, never, fc.integer({ min: 1, max: 40_000_000 })),
      retryFrom: fc.oneof(never, never, fc.nat({ max: 4 })),
      newKey: fc.boolean(),
    }),
    { minLength: 1, maxLength: 4 },
  ),
})

/** The fields comparable between both engines: their messages differ. */
function reported({ error, log, ...rest }: Observed) {
  const { code = null, step = null } = error ?? {}
  return { ...rest, error: { code, step }, log: [...log].sort() }
}

const ended: Record<string, number> = {}

async function agree({ definition, world: options, attempts }: Scenario): Promise<void> {
  const world = createSimulatedWorld(options)
  const engine = new SimulatedEngine(definition, world)
  const reference = new Reference(definition, world)
  for (const { cancelAfterMs, retryFrom, newKey } of attempts) {
    const cancelAt = cancelAfterMs === null ? null : engine.now + cancelAfterMs
    const [found, expected] = [engine.untilEnd(cancelAt), await reference.run(cancelAt)]
    expect(reported(found)).toEqual(reported({ ...expected, error: shown(expected) }))
    ended[found.status] = (ended[found.status] ?? 0) + 1
    const from = retryFrom === null ? null : (definition.steps[retryFrom]?.id ?? null)
    if (!engine.retry(from, newKey)) return
    reference.retry(from, newKey)
  }
}

const shown = ({ status, error }: Observed) =>
  status === 'cancelled' ? { code: 'run_cancelled', step: null } : error

test('the engine agrees with a simple reference interpreter, even when it is reloaded after every decision', async () => {
  await fc.assert(fc.asyncProperty(scenarios, agree), { numRuns: runs, seed })
  expect(ended).toEqual({
    completed: expect.any(Number),
    failed: expect.any(Number),
    cancelled: expect.any(Number),
  })
})
