import { expect, it } from '@jest/globals'
import {
  ApiError,
  type IncidentPatch,
  IncidentState,
  incidentActions,
  incidentStatuses,
  levels,
  priorities,
  severities,
} from '@opsplane/contracts'
import { seededRandom } from '@opsplane/testing'
import type { IncidentCommand } from './commands.js'
import { incident } from './domain.js'
import { agent, comment, create, desk, now, steps } from './sample-incidents.js'
import { allowedActions } from './transitions.js'

/** The same walks on every run. */
function generator(seed: number) {
  const next = seededRandom(seed)
  const pick = <T>(values: readonly T[]): T => {
    const value = values[Math.floor(next() * values.length)]
    if (value === undefined) throw new Error('Nothing to pick from.')
    return value
  }
  return { next, pick }
}

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
  return patch
}

function randomCommand(random: ReturnType<typeof generator>): IncidentCommand {
  if (random.next() < 0.1) return { kind: 'alert', now }
  if (random.next() < 0.1)
    return { kind: 'watch', userId: agent.id, watching: random.pick([true, false]), now }
  if (random.next() < 0.5) {
    const patch = randomPatch(random)
    return { kind: 'patch', patch, by: agent, desk, now, ...(patch.comment && { comment }) }
  }
  return { ...steps[random.pick(incidentActions)], now }
}

/** What must hold of every incident anyone can ever see. */
function expectSound(before: IncidentState, after: IncidentState): void {
  const ended = after.status === 'closed' || after.status === 'canceled'
  expect(IncidentState.safeParse(after).error).toBeUndefined()
  expect(after.holdReason !== null).toBe(after.status === 'on_hold')
  expect(after.closedAt !== null).toBe(ended)
  expect(after.resolvedAt !== null).toBe(after.status === 'resolved' || after.status === 'closed')
  expect(after.priority).toBe(
    after.priorityOverride?.priority ?? desk.priorityMatrix[after.impact][after.urgency],
  )
  expect(new Set(after.watcherIds).size).toBe(after.watcherIds.length)
  expect(after.alertCount).toBeGreaterThanOrEqual(before.alertCount)
  expect([after.id, after.number, after.createdAt]).toEqual([before.id, before.number, before.createdAt])
  expect(['closed', 'canceled']).not.toContain(before.status)
}

it('never leaves the declared states, whatever is asked of it', () => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= 400; seed += 1) {
    const random = generator(seed)
    let state = incident.decide(create, null).at(-1)?.after ?? null
    for (let step = 0; step < 40 && state !== null; step += 1) {
      const before: IncidentState = state
      try {
        for (const { after } of incident.decide(randomCommand(random), before)) {
          if (after === null) throw new Error('Incidents are never deleted.')
          expectSound(before, after)
          seen.add(after.status)
          state = after
        }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        expect(['invalid_state_transition', 'validation_failed']).toContain(error.code)
      }
    }
  }
  expect([...seen].sort()).toEqual([...incidentStatuses].sort())
})

it('always leaves a way on, until the incident has ended', () => {
  const stuck = incidentStatuses.filter((status) => allowedActions(status).length === 0)
  expect(stuck).toEqual(['closed', 'canceled'])
})
