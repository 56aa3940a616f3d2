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
import type { AgreedOn } from './template/from-template.js'

/** Changes to test with, each reached by commands alone. */

export const createdAt = '2026-03-02T09:00:00.000Z'
export const now = '2026-03-02T10:00:00.000Z'
export const person = (id: string): Actor => ({ id, name: id, type: 'user' })
export const [asker, worker, boss, peer] = ['usr_asker', 'usr_worker', 'usr_boss', 'usr_peer'] as const
/** Who has approved the technical stage of every change that is past it. */
export const expert = 'usr_expert'
export const facts: RiskFacts = { criticalities: [], past: { changes: 0, failed: 0 } }
export const approvalIds = Array.from({ length: 5 }, (_, n) => `apr_01JZ8Q4D3N5W7X9Y2B4C6D8E0${n}`)
const nextIds = Array.from({ length: 5 }, (_, n) => `apr_01JZ8Q4D3N5W7X9Y2B4C6D8E1${n}`)

/** What every standard change comes from. */
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
export const agreed: AgreedOn = { template, classes: new Map() }

export const creating = (type: ChangeType, input: object = {}): CreateChange => ({
  kind: 'create',
  id: 'chg_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  number: 'CHG-1',
  by: person(asker),
  userId: asker,
  now: createdAt,
  input: NewChange.parse({
    title: 'Move to new disks',
    type,
    templateId: type === 'standard' ? template.id : null,
    assigneeId: worker,
    plannedStart: '2026-03-07T22:00:00.000Z',
    plannedEnd: '2026-03-08T02:00:00.000Z',
    implementationPlan: 'Add, move, remove.',
    backoutPlan: 'Move back.',
    ...input,
  }),
  facts,
  agreed,
})

/** One sample of every action. */
export const steps: { [Kind in ChangeStep['kind']]: Omit<CommandOf<Kind>, 'now'> } = {
  edit: { kind: 'edit', userId: asker, patch: { assignmentGroup: 'db' }, facts, agreed },
  submit: { kind: 'submit', userId: asker, facts, agreed, policies: [], approvalIds },
  approve: { kind: 'approve', by: person(boss), userId: boss, approvalIds: nextIds },
  reject: { kind: 'reject', by: person(boss), userId: boss, reason: 'Not at the quarter end.' },
  implement: { kind: 'implement', userId: worker },
  complete: { kind: 'complete', userId: worker, outcome: 'successful_with_issues' },
  rollback: { kind: 'rollback', userId: worker },
  close: { kind: 'close', userId: boss },
  cancel: { kind: 'cancel' },
  hold: { kind: 'hold', userId: worker, reason: 'The vendor delivers late.' },
  resume: { kind: 'resume', userId: worker },
}

export function after(create: CreateChange, ...path: ChangeStep[]): ChangeRecord {
  let state = change.decide(create, null).at(-1)?.after ?? null
  for (const step of path) state = change.decide({ ...step, now: createdAt }, state).at(-1)?.after ?? null
  if (state === null) throw new Error('The path leads nowhere.')
  return state
}

const technical: ChangeStep = { ...steps.approve, by: person(expert), userId: expert }
const { submit, approve, implement, complete, rollback, close, cancel } = steps

/** The steps that take each type to each status it can have. */
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

/** A change of this type in this status. Throws where the type never has it. */
export function changeIn(type: ChangeType, status: ChangeStatus, input: object = {}): ChangeRecord {
  const path = paths[type][status]
  if (!path) throw new Error(`No ${type} change is ever ${status}.`)
  return after(creating(type, input), ...path)
}
