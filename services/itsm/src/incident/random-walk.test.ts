import { expect, it } from '@jest/globals'
import {
  ApiError,
  type IncidentPatch,
  IncidentState,
  incidentActions,
  incidentStatuses,
  levels,
  type MajorState,
  majorActions,
  priorities,
  severities,
} from '@opsplane/contracts'
import { searchTimes, seededRandom } from '@opsplane/testing'
import type { IncidentCommand } from './commands.js'
import { incident } from './domain.js'
import { majorTransitions } from './major/major.js'
import { agent, comment, create, now, settings, steps } from './sample-incidents.fixture.js'
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

const parentId = 'inc_01JZ8Q4D3N5W7X9Y2B4C6D8E0G'

function randomPatch({ next, pick }: ReturnType<typeof generator>): IncidentPatch {
  const patch: IncidentPatch = {}
  if (next() < 0.4) patch.status = pick(incidentStatuses)
  if (next() < 0.3) patch.severity = pick(severities)
  if (next() < 0.3) patch.assigneeId = pick([null, agent.id, 'usr_other'])
  if (next() < 0.3) patch.assignmentGroup = pick([null, 'db', 'web'])
  if (next() < 0.3) patch.title = pick(['One', 'Two'])
  if (next() < 0.3) patch.holdReason = pick(['awaiting_caller', 'awaiting_vendor'])
  if (next() < 0.2) patch.comment = comment.body
  if (next() < 0.3) patch.impact = pick(levels)
  if (next() < 0.3) patch.urgency = pick(levels)
  if (next() < 0.2)
    patch.priorityOverride = pick([null, { priority: pick(priorities), reason: 'The board.' }])
  if (next() < 0.2) patch.watcherIds = pick([[], [agent.id], [agent.id, 'usr_other']])
  if (next() < 0.1) patch.resolutionNotes = 'Done.'
  if (next() < 0.1) patch.postIncidentReview = pick([null, 'The pool was too small.'])
  if (next() < 0.2) patch.parentId = pick([null, parentId, create.id])
  return patch
}

function randomCommand(random: ReturnType<typeof generator>, { childCount }: IncidentState): IncidentCommand {
  const choice = random.next()
  if (choice < 0.1) return { kind: 'alert', now }
  if (choice < 0.2) return { kind: 'watch', userId: agent.id, watching: random.pick([true, false]), now }
  if (choice < 0.5) {
    const patch = randomPatch(random)
    return { kind: 'patch', patch, by: agent, settings, now, ...(patch.comment && { comment }) }
  }
  if (choice < 0.7) {
    const userId = random.pick([agent.id, 'usr_grace'])
    return { kind: 'major', action: random.pick(majorActions), by: agent, userId, now }
  }
  // A parent cannot lose a child it does not have.
  if (choice < 0.75) return { kind: childCount > 0 && random.next() < 0.6 ? 'detach' : 'attach', now }
  const cause = random.pick([null, 'parent', 'caller'] as const)
  return { ...steps[random.pick(incidentActions)], now, ...(cause && { cause }) }
}

/** Invariants of every incident that anyone can see. */
function expectSound(before: IncidentState, after: IncidentState): void {
  const ended = after.status === 'closed' || after.status === 'canceled'
  expect(IncidentState.safeParse(after).error).toBeUndefined()
  expect(after.holdReason !== null).toBe(after.status === 'on_hold')
  expect(after.closedAt !== null).toBe(ended)
  expect(after.resolvedAt !== null).toBe(after.status === 'resolved' || after.status === 'closed')
  expect(after.priority).toBe(
    after.priorityOverride?.priority ?? settings.priorityMatrix[after.impact][after.urgency],
  )
  expect(new Set(after.watcherIds).size).toBe(after.watcherIds.length)
  expect(after.alertCount).toBeGreaterThanOrEqual(before.alertCount)
  expect([after.id, after.number, after.createdAt]).toEqual([before.id, before.number, before.createdAt])
  expect(after.childCount > 0 && after.parentId !== null).toBe(false)
  expect(after.followsParent && after.parentId === null).toBe(false)
  expect(after.followsParent && after.status !== 'on_hold' && after.status !== 'resolved').toBe(false)
  expect(after.majorProposal !== null).toBe(after.majorState !== 'none')
  if (after.status === 'closed' && before.status !== 'closed' && after.majorState === 'accepted')
    expect(after.postIncidentReview).not.toBeNull()
  if (before.majorState !== after.majorState)
    expect(
      Object.values(majorTransitions).some((row) => row[before.majorState]?.includes(after.majorState)),
    ).toBe(true)
  // Only the child count of an ended incident may change.
  if (before.status === 'closed' || before.status === 'canceled')
    expect({ ...after, childCount: 0, updatedAt: now }).toEqual({ ...before, childCount: 0, updatedAt: now })
}

it('an incident stays within the declared statuses under random commands', () => {
  const seen = new Set<string>()
  const majors = new Set<MajorState>()
  for (let seed = 1; seed <= 130 * searchTimes; seed += 1) {
    const random = generator(seed)
    let state = incident.decide(create, null).at(-1)?.after ?? null
    for (let step = 0; step < 40 && state !== null; step += 1) {
      const before: IncidentState = state
      try {
        for (const { after } of incident.decide(randomCommand(random, before), before)) {
          if (after === null) throw new Error('Incidents are never deleted.')
          expectSound(state ?? before, after)
          seen.add(after.status)
          majors.add(after.majorState)
          state = after
        }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        expect(['invalid_state_transition', 'validation_failed', 'forbidden']).toContain(error.code)
      }
    }
  }
  expect([...seen].sort()).toEqual([...incidentStatuses].sort())
  expect([...majors].sort()).toEqual(['accepted', 'demoted', 'none', 'proposed', 'rejected'])
})

it('an incident always has an allowed action until it has ended', () => {
  const stuck = incidentStatuses.filter((status) => allowedActions(status).length === 0)
  expect(stuck).toEqual(['closed', 'canceled'])
})
