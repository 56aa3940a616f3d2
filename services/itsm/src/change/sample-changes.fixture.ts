import {
  type Actor,
  type ChangeStatus,
  type ChangeTemplateState,
  type ChangeType,
  NewChange,
  NewChangeTemplate,
} from '@opsplane/contracts'
import type { ChangeRecord } from './approval/separation-of-duties.js'
import type { ChangeStep, CommandOf, CreateChange } from './commands.js'
import { change } from './domain.js'
import type { RiskFacts } from './policy/risk.js'
import type { TemplateAgreement } from './template/from-template.js'

/** Sample changes, each built by applying commands. */

export const createdAt = '2026-03-02T09:00:00.000Z'
export const now = '2026-03-02T10:00:00.000Z'
export const person = (id: string): Actor => ({ id, name: id, type: 'user' })
export const [requester, implementer, approver, secondApprover] = [
  'usr_asker',
  'usr_worker',
  'usr_boss',
  'usr_peer',
] as const
/** The user who approved the technical stage of every change that has passed it. */
export const technicalApprover = 'usr_expert'
export const facts: RiskFacts = { criticalities: [], past: { changes: 0, failed: 0 } }
export const approvalIds = Array.from({ length: 5 }, (_, n) => `apr_01JZ8Q4D3N5W7X9Y2B4C6D8E0${n}`)
const nextIds = Array.from({ length: 5 }, (_, n) => `apr_01JZ8Q4D3N5W7X9Y2B4C6D8E1${n}`)

/** The template of every sample standard change. */
export const template: ChangeTemplateState = {
  id: 'ctp_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  ...NewChangeTemplate.parse({
    name: 'New disks',
    implementationPlan: 'Add, move, remove.',
    backoutPlan: 'Move back.',
    impact: 'medium',
  }),
  createdAt,
  updatedAt: createdAt,
}
export const agreedTemplate: TemplateAgreement = { template, classes: new Map() }

export const createCommand = (type: ChangeType, input: object = {}): CreateChange => ({
  kind: 'create',
  id: 'chg_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  number: 'CHG-1',
  by: person(requester),
  userId: requester,
  now: createdAt,
  input: NewChange.parse({
    title: 'Move to new disks',
    type,
    templateId: type === 'standard' ? template.id : null,
    assigneeId: implementer,
    plannedStart: '2026-03-07T22:00:00.000Z',
    plannedEnd: '2026-03-08T02:00:00.000Z',
    implementationPlan: 'Add, move, remove.',
    backoutPlan: 'Move back.',
    ...input,
  }),
  facts,
  agreed: agreedTemplate,
})

/** One sample of each action. */
export const steps: { [Kind in ChangeStep['kind']]: Omit<CommandOf<Kind>, 'now'> } = {
  edit: { kind: 'edit', userId: requester, patch: { assignmentGroup: 'db' }, facts, agreed: agreedTemplate },
  submit: { kind: 'submit', userId: requester, facts, agreed: agreedTemplate, policies: [], approvalIds },
  approve: { kind: 'approve', by: person(approver), userId: approver, approvalIds: nextIds },
  reject: { kind: 'reject', by: person(approver), userId: approver, reason: 'Not at the quarter end.' },
  implement: { kind: 'implement', userId: implementer },
  complete: { kind: 'complete', userId: implementer, outcome: 'successful_with_issues' },
  rollback: { kind: 'rollback', userId: implementer },
  close: { kind: 'close', userId: approver },
  cancel: { kind: 'cancel' },
  hold: { kind: 'hold', userId: implementer, reason: 'The vendor delivers late.' },
  resume: { kind: 'resume', userId: implementer },
}

export function after(create: CreateChange, ...path: ChangeStep[]): ChangeRecord {
  let state = change.decide(create, null).at(-1)?.after ?? null
  for (const step of path) state = change.decide({ ...step, now: createdAt }, state).at(-1)?.after ?? null
  if (state === null) throw new Error('The path leads nowhere.')
  return state
}

const technical: ChangeStep = { ...steps.approve, by: person(technicalApprover), userId: technicalApprover }
const { submit, approve, implement, complete, rollback, close, cancel } = steps

/** The steps that lead each type to each status it can have. */
export const paths: Record<ChangeType, Partial<Record<ChangeStatus, ChangeStep[]>>> = {
  standard: everyStatus([submit]),
  normal: { ...everyStatus([submit, technical, approve]), assess: [submit], authorize: [submit, technical] },
  emergency: { ...everyStatus([submit, approve]), authorize: [submit] },
}

function everyStatus(scheduled: ChangeStep[]): Partial<Record<ChangeStatus, ChangeStep[]>> {
  const implementing = [...scheduled, implement]
  return {
    draft: [],
    scheduled,
    implementing,
    review: [...implementing, complete],
    rolled_back: [...implementing, rollback],
    closed: [...implementing, complete, close],
    canceled: [cancel],
  }
}

/** Returns a change of this type in this status. Throws if the type never has it. */
export function changeIn(type: ChangeType, status: ChangeStatus, input: object = {}): ChangeRecord {
  const path = paths[type][status]
  if (!path) throw new Error(`No ${type} change is ever ${status}.`)
  return after(createCommand(type, input), ...path)
}
