import { expect, it } from '@jest/globals'
import {
  ApiError,
  type Approval,
  ApprovalRule,
  type ChangePatch,
  type ChangePolicyState,
  ChangeState,
  type ChangeTemplateState,
  changeActions,
  changeStatuses,
  changeTypes,
} from '@opsplane/contracts'
import { seededRandom } from '@opsplane/testing'
import { isInForce } from './approval/approval-record.js'
import type { ChangeRecord } from './approval/separation-of-duties.js'
import type { ChangeCommand } from './commands.js'
import { hashChange } from './content.js'
import { change } from './domain.js'
import {
  approvalIds,
  createCommand,
  facts,
  now,
  paths,
  person,
  steps,
  template,
} from './sample-changes.fixture.js'
import type { TemplateAgreement } from './template/from-template.js'
import { allowedActions } from './transitions.js'

const people = ['usr_asker', 'usr_worker', 'usr_boss', 'usr_peer', 'usr_third', 'usr_fourth']
const policy: ChangePolicyState = {
  id: 'cpl_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  name: 'Walk',
  order: 1,
  conditions: { impact: 'high' },
  technical: [
    ApprovalRule.parse({ name: 'Two', waitFor: { count: 2 } }),
    ApprovalRule.parse({ name: 'One' }),
  ],
  authorization: [ApprovalRule.parse({ name: 'Named', approverIds: people, waitFor: { percent: 50 } })],
  distinctApprovers: true,
  status: 'active',
  createdAt: now,
  updatedAt: now,
}

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

/** Templates of standard changes, in each state in which they may be read. */
const templates: ChangeTemplateState[] = [
  template,
  { ...template, testPlan: 'Look.', impact: 'high' },
  { ...template, id: 'ctp_01JZ8Q4D3N5W7X9Y2B4C6D8E1F', backoutPlan: 'Otherwise.' },
  { ...template, status: 'inactive' },
  { ...template, maxDurationMinutes: 240 },
]

function randomAgreed({ next, pick }: Random): TemplateAgreement {
  return { template: next() < 0.1 ? null : pick(templates), classes: new Map() }
}

function randomPatch({ next, pick }: Random): ChangePatch {
  const patch: ChangePatch = {}
  if (next() < 0.1) patch.title = pick(['One', 'Two'])
  if (next() < 0.2) patch.type = pick(changeTypes)
  if (patch.type === 'standard' || next() < 0.05) patch.templateId = template.id
  if (next() < 0.3) patch.assigneeId = pick([null, ...people])
  if (next() < 0.3) patch.assignmentGroup = pick([null, 'db', 'web'])
  if (next() < 0.1) patch.impact = pick(['high', 'medium'])
  if (next() < 0.1) patch.backoutPlan = pick([null, 'Back.'])
  if (next() < 0.1) patch.plannedEnd = pick([null, '2026-03-08T03:00:00.000Z'])
  return patch
}

function randomApproval({ next, pick }: Random, approvals: readonly Approval[]): string | undefined {
  const named = next() < 0.9 ? approvals.filter(({ status }) => status === 'pending') : approvals
  return named.length > 0 && next() < 0.7 ? pick(named).id : undefined
}

function randomCommand(random: Random, id: number, { approvals }: ChangeRecord): ChangeCommand {
  const action = random.pick([
    ...changeActions,
    'submit',
    'approve',
    'approve',
    'approve',
    'approve',
    'implement',
    'complete',
    'resume',
  ] as const)
  const userId = random.pick(people)
  const by = { by: person(userId), userId, now }
  const ids = approvalIds.map(
    (_, index) => `apr_01JZ8Q4D3N5W7X9Y2B4C6D8${String(id % 100).padStart(2, '0')}${index}`,
  )
  switch (action) {
    case 'edit':
      return { kind: action, userId, patch: randomPatch(random), facts, agreed: randomAgreed(random), now }
    case 'submit':
      return {
        ...steps.submit,
        userId,
        policies: [policy],
        approvalIds: ids,
        agreed: randomAgreed(random),
        now,
      }
    case 'approve':
      return { kind: action, ...by, approvalIds: ids, approvalId: randomApproval(random, approvals) }
    case 'reject':
      return { kind: action, ...by, reason: 'No.' }
    case 'close':
      return { kind: action, userId, now }
    case 'complete':
      return { kind: action, userId, outcome: random.pick(['successful', 'unsuccessful']), now }
    case 'cancel':
      return { ...steps.cancel, now }
    default:
      return { ...steps[action], userId, now }
  }
}

/** Contributors of a change, computed from the commands independently of the lists in the change. */
interface Hands {
  editors: Set<string>
  implementers: Set<string>
}
const writable = [
  ...['title', 'type', 'impact', 'implementationPlan', 'testPlan', 'backoutPlan', 'plannedEnd'],
  'templateId',
] as const satisfies (keyof ChangeState)[]

function follow(hands: Hands, command: ChangeCommand, before: ChangeState, after: ChangeState): void {
  const acted = 'userId' in command ? [command.userId] : []
  if (command.kind === 'edit' && writable.some((name) => before[name] !== after[name]))
    for (const userId of acted) hands.editors.add(userId)
  if (after.status === 'implementing' && after.assigneeId) hands.implementers.add(after.assigneeId)
  if (['implement', 'complete', 'rollback'].includes(command.kind))
    for (const userId of acted) hands.implementers.add(userId)
  if (['hold', 'resume'].includes(command.kind) && before.status === 'implementing')
    for (const userId of acted) hands.implementers.add(userId)
}

/** Invariants of every change that anyone can see. */
function expectSound(before: ChangeRecord, after: ChangeRecord, hands: Hands): void {
  const { status, type, approvals } = after
  expect(ChangeState.safeParse(change.expose(after)).error).toBeUndefined()
  expect(paths[type][status]).toBeDefined()
  expect(after.templateId !== null).toBe(type === 'standard')
  if (type === 'standard' && status !== 'draft' && before.status !== 'draft')
    expect([after.implementationPlan, after.testPlan, after.backoutPlan, after.impact]).toEqual([
      ...[before.implementationPlan, before.testPlan, before.backoutPlan, before.impact],
    ])
  expect(after.holdReason !== null).toBe(after.onHold)
  if (after.onHold) expect(['assess', 'authorize', 'scheduled', 'implementing']).toContain(status)
  expect(['closed', 'canceled']).not.toContain(before.status)
  expect([after.id, after.number, after.createdAt]).toEqual([before.id, before.number, before.createdAt])
  expect([after.requesterId, before.status === 'draft' || after.type === before.type]).toEqual([
    before.requesterId,
    true,
  ])
  const worked = ['implementing', 'review', 'rolled_back', 'closed']
  if (worked.includes(status)) expect(after.actualStart).not.toBeNull()
  expect(after.outcome !== null).toBe(['review', 'rolled_back', 'closed'].includes(status))
  if (['draft', 'scheduled', ...worked].includes(status))
    expect(approvals.filter((approval) => approval.status === 'pending')).toEqual([])
  if (status === 'draft') expect(approvals.filter(isInForce)).toEqual([])
  if (['assess', 'authorize', 'scheduled'].includes(status))
    for (const approval of approvals.filter(isInForce)) expect(approval.contentHash).toBe(hashChange(after))
  expectDuties(after, hands)
}

/** Only standard changes are scheduled without approvals. The other ones have no approvals by their contributors. */
function expectDuties(after: ChangeRecord, { editors, implementers }: Hands): void {
  const { status, type, approvals, requesterId, assigneeId, editorIds, implementerIds } = after
  expect(new Set(editorIds)).toEqual(editors)
  expect(new Set(implementerIds)).toEqual(implementers)

  const standing = approvals.filter(isInForce)
  if (type === 'normal' && after.approvalPolicy?.distinctApprovers) expectDistinct(standing)
  if (type !== 'standard' && ['scheduled', 'implementing'].includes(status))
    expect(standing.length).toBeGreaterThan(0)
  for (const { decisions, required, status: decided } of standing) {
    const users = decisions.map(({ userId }) => userId)
    expect(new Set(users).size).toBe(users.length)
    expect(users.length >= required).toBe(decided === 'approved')
    expect(users).not.toContain(requesterId)
    expect(users.filter((userId) => editors.has(userId))).toEqual([])
    if (['assess', 'authorize', 'scheduled', 'implementing'].includes(status))
      expect(users).not.toContain(assigneeId)
  }
}

/** An approver of one stage approves the next stage only by naming the approval. */
function expectMeant(
  command: ChangeCommand & { kind: 'approve' },
  { status, approvals }: ChangeRecord,
): void {
  const given = approvals.filter((approval) => approval.status === 'approved')
  const before = given.some(({ decisions }) => decisions.some(({ userId }) => userId === command.userId))
  if (status === 'authorize' && before) expect(command.approvalId).toBeDefined()
}

/** A change that is scheduled without an approval matches its template at the time of submission. */
function expectAgreed(after: ChangeState, agreed: TemplateAgreement | undefined): void {
  if (after.type !== 'standard') return
  const { implementationPlan, testPlan, backoutPlan, impact } = after
  expect(agreed?.template).toMatchObject({
    status: 'active',
    implementationPlan,
    testPlan,
    backoutPlan,
    impact,
  })
  const minutes = (Date.parse(after.plannedEnd ?? '') - Date.parse(after.plannedStart ?? '')) / 60_000
  expect(minutes).toBeLessThanOrEqual(agreed?.template?.maxDurationMinutes ?? 10_000)
}

/** Two technical approvals, then the authorization by other approvers, which can be met. */
function expectDistinct([one, two, last]: Approval[]): void {
  const before = [one, two].flatMap((approval) => approval?.decisions ?? []).map(({ userId }) => userId)
  if (!last) return
  expect(last.decisions.filter(({ userId }) => before.includes(userId))).toEqual([])
  const left = last.approverIds?.filter((userId) => !last.excludedIds.includes(userId)) ?? []
  expect(left.length).toBeGreaterThanOrEqual(last.required)
}

it('a change stays within the declared statuses under random commands', () => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= 300; seed += 1) {
    const random = generator(seed)
    const type = random.pick(changeTypes)
    const create = createCommand(type, type === 'standard' ? {} : { impact: random.pick(['high', 'medium']) })
    const hands: Hands = { editors: new Set(), implementers: new Set() }
    let state = change.decide(create, null).at(-1)?.after ?? null
    for (let step = 0; step < 60 && state !== null; step += 1) {
      const before: ChangeRecord = state
      const command = randomCommand(random, step, before)
      try {
        const reviewers = command.kind === 'close' ? [command.userId] : []
        const decisions = change.decide(command, before)
        if (command.kind === 'approve') expectMeant(command, before)
        for (const { after } of decisions) {
          if (after === null) throw new Error('Changes are never deleted.')
          expect(reviewers.filter((userId) => hands.implementers.has(userId))).toEqual([])
          if (command.kind === 'submit') expectAgreed(after, command.agreed)
          follow(hands, command, before, after)
          expectSound(before, after, hands)
          seen.add(`${after.type} ${after.status}`)
          state = after
        }
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        expect(['invalid_state_transition', 'validation_failed', 'forbidden', 'conflict']).toContain(
          error.code,
        )
      }
    }
  }
  const all = changeTypes.flatMap((type) => Object.keys(paths[type]).map((status) => `${type} ${status}`))
  expect([...seen].sort()).toEqual(all.sort())
})

it('a change always has an allowed action until it has ended', () => {
  for (const type of changeTypes)
    for (const onHold of [false, true]) {
      const stuck = changeStatuses.filter((status) => allowedActions({ type, status, onHold }).length === 0)
      expect(stuck.filter((status) => paths[type][status])).toEqual(['closed', 'canceled'])
    }
})
