import { expect, it } from '@jest/globals'
import {
  ApiError,
  levels,
  defaultPriorityMatrix as matrix,
  type ProblemPatch,
  ProblemState,
  problemActions,
  problemResolutions,
  problemStatuses,
} from '@opsplane/contracts'
import { searchTimes, seededRandom } from '@opsplane/testing'
import type { ProblemEnd, ProblemStep } from './commands.js'
import { problem } from './domain.js'
import { create, now, otherId, steps } from './sample-problems.fixture.js'
import { allowedActions } from './transitions.js'

/** Generates the same walks on every run. */
function generator(seed: number) {
  const next = seededRandom(seed)
  const pick = <T>(values: readonly T[]): T => {
    const value = values[Math.floor(next() * values.length)]
    if (value === undefined) throw new Error('Nothing to pick from.')
    return value
  }
  return { next, pick }
}
type Random = ReturnType<typeof generator>

function randomPatch({ next, pick }: Random): ProblemPatch {
  const patch: ProblemPatch = {}
  if (next() < 0.3) patch.impact = pick(levels)
  if (next() < 0.3) patch.urgency = pick(levels)
  if (next() < 0.3) patch.rootCause = pick([null, '', 'A leak.'])
  if (next() < 0.3) patch.workaround = pick([null, '', 'Wait.', 'Restart.'])
  if (next() < 0.2) patch.ciIds = pick([[], ['a', 'a'], ['b']])
  return patch
}

function randomEnding({ next, pick }: Random): Omit<ProblemEnd, 'resolution'> {
  return {
    ...(next() < 0.7 && { resolutionNotes: 'Done.' }),
    ...(next() < 0.3 && { duplicateOf: pick([otherId, create.id]) }),
  }
}

function randomStep(random: Random): ProblemStep {
  const kind = random.pick(problemActions)
  if (kind === 'edit') return { kind, patch: randomPatch(random), matrix }
  if (kind === 'resolve')
    return { kind, resolution: random.pick(problemResolutions), ...randomEnding(random) }
  if (kind === 'close')
    return random.next() < 0.5
      ? { kind }
      : { kind, resolution: random.pick(problemResolutions), ...randomEnding(random) }
  return steps[kind]
}

/** Invariants of every problem that anyone can see. */
function expectSound(before: ProblemState, after: ProblemState): void {
  const ended = after.status === 'resolved' || after.status === 'closed'
  expect(ProblemState.safeParse(after).error).toBeUndefined()
  expect(after.resolution !== null).toBe(ended)
  expect(after.resolvedAt !== null).toBe(ended)
  expect(after.closedAt !== null).toBe(after.status === 'closed')
  expect(after.duplicateOf !== null).toBe(after.resolution === 'duplicate')
  expect(after.duplicateOf).not.toBe(after.id)
  expect(after.knownErrorAt !== null).toBe(after.knownError)
  if (after.knownError) expect([after.rootCause, after.workaround].every(Boolean)).toBe(true)
  if (after.workaroundPublishedAt !== null) expect(after.workaround).toBeTruthy()
  if (after.resolution === 'fix_applied') expect(after.rootCause).toBeTruthy()
  expect(after.priority).toBe(matrix[after.impact][after.urgency])
  expect([after.id, after.number, after.createdAt]).toEqual([before.id, before.number, before.createdAt])
}

it('a problem stays within the declared statuses under random commands', () => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= 75 * searchTimes; seed += 1) {
    const random = generator(seed)
    let state = problem.decide(create, null).at(-1)?.after ?? null
    for (let step = 0; step < 60 && state !== null; step += 1) {
      const before: ProblemState = state
      try {
        for (const { after } of problem.decide({ ...randomStep(random), now }, before)) {
          if (after === null) throw new Error('Problems are never deleted.')
          expectSound(before, after)
          seen.add(`${after.status} ${after.resolution ?? ''}`.trim())
          state = after
        }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        expect(['invalid_state_transition', 'validation_failed']).toContain(error.code)
      }
    }
  }
  const open = ['new', 'assess', 'root_cause_analysis', 'fix_in_progress']
  const ended = problemResolutions.flatMap((resolution) => [`resolved ${resolution}`, `closed ${resolution}`])
  expect([...seen].sort()).toEqual([...open, ...ended].sort())
})

it('a problem always has an allowed action', () => {
  expect(problemStatuses.filter((status) => allowedActions(status).length === 0)).toEqual([])
})
