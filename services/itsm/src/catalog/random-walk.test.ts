import { expect, it } from '@jest/globals'
import {
  ApiError,
  CatalogRequestState,
  type CatalogRequestStatus,
  type CatalogTaskState,
  catalogRequestStatuses,
  catalogTaskStatuses,
  type NewCatalogItem,
  newId,
} from '@opsplane/contracts'
import { searchTimes, seededRandom } from '@opsplane/testing'
import type { ActingUser, RequestCommand } from './request-commands.js'
import { catalogRequest } from './request-domain.js'
import { allowedRequestActions, automaticTransitions } from './request-transitions.js'
import { approver, commands, create, item, manager, now, requester } from './sample-catalog.fixture.js'
import { allowedTaskActions, taskHasEnded } from './task-transitions.js'

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

/** Each task depends on some of the preceding ones. */
function randomPlan({ next }: Random): NewCatalogItem['tasks'] {
  const count = Math.floor(next() * 7)
  return Array.from({ length: count }, (_, index) => ({
    key: `t${index}`,
    name: `Task ${index}`,
    assignmentGroup: null,
    assigneeId: null,
    dependsOn: Array.from({ length: index }, (_one, before) => `t${before}`).filter(() => next() < 0.35),
  }))
}

function randomCommand(random: Random, setting: Setting, state: CatalogRequestState): RequestCommand {
  const { plan, ids, ordered } = setting
  const by = random.pick<ActingUser>([requester, approver, manager])
  const task = state.tasks.length > 0 ? random.pick(state.tasks).id : 'ctk_none'
  const action = random.pick(['start', 'complete', 'complete', 'fail', 'skip'] as const)
  const rare: RequestCommand[] = random.next() < 0.05 ? [commands.cancel, { ...commands.reject, by }] : []
  return random.pick<RequestCommand>([
    ...rare,
    { ...commands.edit, item: ordered, patch: { quantity: random.pick([1, 2, 3]) } },
    { ...commands.submit, item: ordered, ids },
    { ...commands.approve, by, plan, taskIds: ids.taskIds },
    { ...commands.fulfill, outcome: random.pick(['complete', 'incomplete', 'skipped']) },
    { kind: 'edit_task', taskId: task, now, patch: { assigneeId: random.pick([null, 'usr_tim']) } },
    ...Array.from({ length: 4 }, () => ({ kind: 'work' as const, action, taskId: task, now })),
  ])
}

function settingOf(random: Random) {
  const plan = randomPlan(random)
  const approvals = random.next() < 0.5 ? item.approvals : []
  const ids = {
    approvalIds: approvals.map(() => newId('approval')),
    taskIds: plan.map(() => newId('catalogTask')),
  }
  return { plan, ids, ordered: { ...item, tasks: plan, approvals } }
}
type Setting = ReturnType<typeof settingOf>

const closedBy: Partial<Record<CatalogRequestStatus, (tasks: CatalogTaskState[]) => boolean>> = {
  closed_complete: (tasks) =>
    tasks.some(({ status }) => status === 'complete') && tasks.every(({ status }) => status !== 'incomplete'),
  closed_incomplete: (tasks) => tasks.some(({ status }) => status === 'incomplete'),
  closed_skipped: (tasks) => tasks.every(({ status }) => status === 'skipped'),
}
const final = ['closed_complete', 'closed_incomplete', 'closed_skipped', 'rejected', 'canceled']

/** Invariants of every request that anyone can see. */
function expectSound(before: CatalogRequestState, after: CatalogRequestState): void {
  expect(CatalogRequestState.safeParse(after).error).toBeUndefined()
  expect(final).not.toContain(before.status)
  expect(after.closedAt !== null).toBe(final.includes(after.status))
  expect(after.reason !== null).toBe(after.status === 'rejected' || after.status === 'canceled')
  expect([after.id, after.number, after.requesterId]).toEqual([before.id, before.number, before.requesterId])
  // A person who can see one state can see all later ones, so a list as of then shows nothing that was hidden since.
  expect(after.requestedFor).toBe(before.requestedFor)
  const namedIn = ({ approvals }: CatalogRequestState) =>
    approvals.flatMap(({ approverIds }) => approverIds ?? ['anyone'])
  expect(namedIn(after)).toEqual(expect.arrayContaining(namedIn(before)))
  const pending = after.approvals.filter(({ status }) => status === 'pending').length
  expect(pending > 0).toBe(after.status === 'awaiting_approval')
  if (after.status === 'fulfilling')
    expect(after.approvals.every(({ status }) => status === 'approved')).toBe(true)
  const byTasks = closedBy[after.status]
  if (byTasks && after.tasks.length > 0) expect(byTasks(after.tasks)).toBe(true)
  for (const task of after.tasks) expectSoundTask(task, after.tasks)
}

function expectSoundTask(task: CatalogTaskState, tasks: CatalogTaskState[]): void {
  const needed = tasks.filter(({ key }) => task.dependsOn.includes(key))
  expect(task.endedAt !== null).toBe(taskHasEnded(task))
  if (task.status === 'pending') {
    expect(needed.some((other) => !taskHasEnded(other))).toBe(true)
    expect(needed.every(({ status }) => status !== 'incomplete')).toBe(true)
  }
  if (['open', 'in_progress', 'complete', 'incomplete'].includes(task.status))
    expect(needed.every(({ status }) => status === 'complete' || status === 'skipped')).toBe(true)
}

/** From every status that a request can stay in, some action leads further. */
function expectWayOn(state: CatalogRequestState): void {
  expect(automaticTransitions[state.status]).toBeUndefined()
  if (final.includes(state.status)) return
  expect(allowedRequestActions(state)).not.toEqual([])
  if (state.status !== 'fulfilling' || state.tasks.length === 0) return
  expect(state.tasks.some(({ status }) => allowedTaskActions(status).includes('complete'))).toBe(true)
}

it('a catalog request stays within the declared statuses under random commands', () => {
  const seen = new Set<string>()
  const seenTasks = new Set<string>()
  let ends = 0
  for (let seed = 1; seed <= 75 * searchTimes; seed += 1) {
    const random = generator(seed)
    const setting = settingOf(random)
    let state: CatalogRequestState | null =
      catalogRequest.decide({ ...create, item: setting.ordered, ids: setting.ids }, null).at(-1)?.after ??
      null
    for (let step = 0; step < 60 && state !== null; step += 1) {
      try {
        const decisions = catalogRequest.decide(randomCommand(random, setting, state), state)
        ends += decisions.filter(({ type }) => type === 'request.fulfilled').length
        for (const { after } of decisions) {
          if (after === null) throw new Error('Requests are never deleted.')
          expectSound(state, after)
          seen.add(after.status)
          for (const { status } of after.tasks) seenTasks.add(status)
          state = after
        }
        expectWayOn(state)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        expect(['invalid_state_transition', 'forbidden', 'not_found']).toContain(error.code)
      }
    }
  }
  expect([...seen].sort()).toEqual([...catalogRequestStatuses].sort())
  expect([...seenTasks].sort()).toEqual([...catalogTaskStatuses].sort())
  expect(ends).toBeGreaterThan(40)
})
