import {
  ApiError,
  type ChangePatch,
  type ChangeState,
  type ChangeStatus,
  type ChangeType,
  changedFields,
  type ErrorDetail,
  invalidField,
} from '@opsplane/contracts'
import { pendingStatuses } from '../change-window/conflict-events.js'
import { withdrawApprovals } from './approval/approval-actions.js'
import { reassign } from './approval/approval-record.js'
import { addContributor, type ChangeRecord, checkReviewer } from './approval/separation-of-duties.js'
import type { CommandOf } from './commands.js'
import { hashChange, isRewritten } from './content.js'
import type { ChangeDecision } from './decision.js'
import { checkFields } from './initial-state.js'
import { applyPatch } from './patch.js'
import { computeRisk } from './policy/risk.js'
import { applyTemplateEdit } from './template/from-template.js'
import { statusAfter } from './transitions.js'

type Field = keyof ChangePatch

/** Routing is not part of the approved content, so it can be edited at any time, also on hold. */
const routingFields: readonly Field[] = ['assignmentGroup', 'problemId']
const workFields: readonly Field[] = [...routingFields, 'assigneeId']
const descriptiveFields: readonly Field[] = [
  ...workFields,
  'title',
  'description',
  'ciIds',
  'plannedStart',
  'plannedEnd',
  'impact',
  'successProbability',
  'implementationPlan',
  'testPlan',
  'backoutPlan',
]
/** The reviewer must not be the assignee, so the assignee cannot be changed once the work is done. */
const reviewFields: readonly Field[] = [...routingFields, 'closeNotes', 'reviewNotes']

/** The fields that can be edited in each status. */
export const editableFields: Record<ChangeStatus, readonly Field[]> = {
  draft: [...descriptiveFields, 'type', 'templateId'],
  assess: descriptiveFields,
  authorize: descriptiveFields,
  scheduled: descriptiveFields,
  implementing: workFields,
  review: reviewFields,
  rolled_back: reviewFields,
  closed: [],
  canceled: [],
}

/**
 * An edit without effect produces no event. An edit of approved content voids the approvals and returns the change to
 * draft. An editor may not decide on the change even after later submissions, because their text may still be in it.
 */
export function edit(
  { userId, patch, facts, agreed, conflicts, now }: CommandOf<'edit'>,
  state: ChangeRecord,
): ChangeDecision[] {
  statusAfter('edit', state)
  const patchedChange = applyPatch(state, patch)
  const names = changedFields(state, patchedChange)
  if (names.length === 0) return []
  checkEditable(names, state)
  if (names.includes('type')) checkType(patchedChange.type, state)
  if (names.includes('reviewNotes')) checkReviewer(state, userId)
  const editedChange = applyTemplateEdit({ before: state, asked: patchedChange, patch }, agreed)
  const risk = affectsRisk(names, state) ? computeRisk(editedChange, facts) : {}
  const after = {
    ...checkFields({ ...editedChange, ...risk }),
    ...(conflicts && { conflicts }),
    updatedAt: now,
  }
  if (state.status !== 'draft' && hashChange(after) === hashChange(state))
    return [{ type: 'change.updated', after: recordHandover(reassign(state, after), state) }]
  const editorIds = isRewritten(state, editedChange)
    ? addContributor(state.editorIds, userId)
    : state.editorIds
  const draft = { ...after, editorIds }
  if (state.status === 'draft') return [{ type: 'change.updated', after: draft }]
  const status = statusAfter('edit', state, 'draft')
  return [
    {
      type: 'change.updated',
      after: { ...withdrawApprovals(draft, now), status },
      extras: { approvalsVoided: true },
    },
  ]
}

/** A change for which approval was requested, and possibly rejected, cannot become a pre-approved standard change. */
function checkType(type: ChangeType, { approvals }: ChangeState): void {
  if (type !== 'standard' || approvals.length === 0) return
  const message =
    'Approval has been requested for this change, so it cannot become a standard change. Create a new change.'
  throw invalidField('/type', 'approval_asked', message)
}

/** The previous assignee remains an implementer. */
function recordHandover(after: ChangeRecord, before: ChangeRecord): ChangeRecord {
  if (before.status !== 'implementing' || after.assigneeId === before.assigneeId) return after
  const implementerIds = addContributor(
    addContributor(before.implementerIds, before.assigneeId),
    after.assigneeId,
  )
  return { ...after, implementerIds }
}

/** Whether the conflicts have to be recomputed. They are frozen once implementation has begun. */
export function affectsConflicts(patch: ChangePatch, { status }: ChangeState): boolean {
  const names = ['plannedStart', 'plannedEnd', 'ciIds', 'assigneeId'] as const
  const open = status === 'draft' || pendingStatuses.includes(status)
  return open && names.some((name) => patch[name] !== undefined)
}

/**
 * The risk is not recomputed for other fields: a new assignee must not send a change back because the criticality of an
 * item has changed in the meantime.
 */
function affectsRisk(names: readonly string[], { status }: ChangeState): boolean {
  return status === 'draft' || ['impact', 'successProbability', 'ciIds'].some((name) => names.includes(name))
}

function checkEditable(names: readonly string[], { status, onHold }: ChangeState): void {
  const allowed: readonly string[] = onHold ? workFields : editableFields[status]
  const where = onHold ? 'on hold' : status
  const details = names
    .filter((name) => !allowed.includes(name))
    .map((name): ErrorDetail => {
      return {
        in: 'body',
        path: `/${name}`,
        code: 'not_editable',
        message: `cannot be edited while ${where}`,
      }
    })
  if (details.length > 0)
    throw new ApiError('validation_failed', `Some of these fields cannot be edited while ${where}.`, {
      details,
    })
}
