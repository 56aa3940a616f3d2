import {
  ApiError,
  type Approval,
  type ApprovalDecision,
  type ApprovalRule,
  type ErrorDetail,
  type Instant,
  invalidField,
} from '@opsplane/contracts'
import {
  filterDecidable,
  reasonCannotDecide,
  recordDecision,
  requestAllApprovals,
} from '../../approval/approval.js'
import { checkBlackouts } from '../../change-window/blackout-guard.js'
import type { CommandOf, DecideOnChange } from '../commands.js'
import { hashChange } from '../content.js'
import type { ChangeDecision } from '../decision.js'
import { findPolicy } from '../policy/policy.js'
import { computeRisk } from '../policy/risk.js'
import { applyTemplate } from '../template/from-template.js'
import { statusAfter } from '../transitions.js'
import {
  checkApproversLeft,
  checkAuthorization,
  checkComment,
  completedTechnicalStage,
  findExcludedIds,
  technicalApprovers,
  trimApprovals,
  voidAll,
} from './approval-record.js'
import { type ChangeRecord, exposeChange } from './separation-of-duties.js'

/** Voids all approvals: the change has to be submitted again. */
export function withdrawApprovals(change: ChangeRecord, now: Instant): ChangeRecord {
  return { ...change, approvalPolicy: null, approvals: voidAll(change.approvals, now) }
}

/** Submits a draft. Throws validation_failed naming every field that is missing. */
export function submit(
  { userId, facts, policies, approvalIds, agreed, clash, now, separationOfDuties }: CommandOf<'submit'>,
  { dutiesCombined: _, ...handedIn }: ChangeRecord,
): ChangeDecision {
  const draft: ChangeRecord = separationOfDuties === false ? { ...handedIn, dutiesCombined: true } : handedIn
  const status = statusAfter('submit', draft)
  checkComplete(draft)
  const state = draft.type === 'standard' ? applyTemplate(draft, agreed) : draft
  const accepted = clash && checkBlackouts(state.type, clash)
  const extras = accepted && { extras: accepted }
  const conflicts = clash?.conflicts ?? state.conflicts
  const judged = { ...state, ...computeRisk(state, facts), conflicts, rejectionReason: null, updatedAt: now }
  if (state.type === 'standard') return { type: 'change.submitted', after: { ...judged, status }, ...extras }
  const changeWithPolicy = { ...judged, approvalPolicy: findPolicy(exposeChange(judged), policies) }
  const { technical, authorization } = changeWithPolicy.approvalPolicy
  const submittedChange = requestApprovals(
    changeWithPolicy,
    status === 'assess' ? technical : authorization,
    approvalIds,
    now,
    userId,
  )
  checkAuthorization(submittedChange)
  return { type: 'change.submitted', after: { ...submittedChange, status }, ...extras }
}

function checkComplete(change: ChangeRecord): void {
  const window = ['plannedStart', 'plannedEnd'] as const
  const plans = change.type === 'normal' ? (['implementationPlan', 'backoutPlan'] as const) : []
  const details = [...window, ...plans].flatMap((name): ErrorDetail[] =>
    change[name] === null
      ? [{ in: 'body', path: `/${name}`, code: 'required', message: 'required to submit the change' }]
      : [],
  )
  if (details.length > 0)
    throw new ApiError('validation_failed', 'The change lacks fields that are required to submit it.', {
      details,
    })
}

function requestApprovals(
  change: ChangeRecord,
  rules: readonly ApprovalRule[],
  ids: readonly string[],
  now: Instant,
  submitterId?: string,
): ChangeRecord {
  const submitter = submitterId === undefined || change.dutiesCombined ? [] : [submitterId]
  const excludedIds = [...findExcludedIds(change), ...submitter]
  const contentHash = hashChange(change)
  const newApprovals = requestAllApprovals(rules, ids, { excludedIds, contentHash, now })
  return { ...change, approvals: trimApprovals([...change.approvals, ...newApprovals]) }
}

/** Records one decision per approval. The last pending approval moves the change to its next stage. */
export function approve(command: CommandOf<'approve'>, state: ChangeRecord): ChangeDecision[] {
  statusAfter('approve', state)
  const open = findDecidable(command, state)
  if (command.approvalId === undefined) checkApprovalNamed(command.userId, open, state)
  const decisions = recordDecisions(command, 'approved', command.comment ?? null, { state, open })
  const last = decisions.at(-1)
  if (last && state.status === 'assess') checkApproversLeft(last.after)
  if (!last || last.after.approvals.some(({ status }) => status === 'pending')) return decisions
  const { after } = last
  if (state.status === 'assess') {
    const rules = after.approvalPolicy?.authorization ?? []
    const next = requestApprovals(after, rules, command.approvalIds, command.now)
    const status = statusAfter('approve', state, 'authorize')
    return [...decisions.slice(0, -1), { ...last, after: { ...next, status } }]
  }
  const status = statusAfter('approve', state, 'scheduled')
  return [...decisions, { type: 'change.approved', after: { ...after, status } }]
}

/** One rejection is enough; earlier approvals no longer count. */
export function reject(command: CommandOf<'reject'>, state: ChangeRecord): ChangeDecision[] {
  const { reason, now } = command
  const status = statusAfter('reject', state)
  const open = findDecidable(command, state)
  const decisions = recordDecisions(command, 'rejected', reason, { state, open })
  const after = withdrawApprovals(decisions.at(-1)?.after ?? state, now)
  const extras = { reason }
  return [
    ...decisions,
    { type: 'change.rejected', after: { ...after, status, rejectionReason: reason }, extras },
  ]
}

/**
 * Throws validation_failed naming /approvalId if an approver of an earlier stage does not name an approval. A request
 * that is sent twice, by a second click or a retry, must not approve the next stage as well.
 */
function checkApprovalNamed(userId: string, open: readonly Approval[], state: ChangeRecord): void {
  const ownApprovals = completedTechnicalStage(state).filter(({ decisions }) =>
    decisions.some((made) => made.userId === userId),
  )
  if (ownApprovals.length === 0) return
  const names = ownApprovals.map(({ name }) => name).join(' and ')
  const ways = open.map(({ id, name }) => `${id} as approvalId to approve ${name} as well`)
  throw invalidField(
    '/approvalId',
    'required',
    `You have already approved ${names}. Send ${ways.join(', or ')}.`,
  )
}

function recordDecisions(
  command: DecideOnChange & { now: Instant },
  decision: ApprovalDecision['decision'],
  comment: string | null,
  { state, open }: { state: ChangeRecord; open: readonly Approval[] },
): ChangeDecision[] {
  const { by, userId, now } = command
  const contentHash = hashChange(state)
  let current = state
  return open.map((pending) => {
    if (decision === 'approved') checkComment(comment, current.approvals)
    const approval = recordDecision(pending, { by, userId, decision, comment, contentHash, now })
    const approvals = current.approvals.map((one) => (one.id === approval.id ? approval : one))
    current = { ...current, approvals: trimApprovals(approvals), updatedAt: now }
    return { type: 'change.approval_recorded', after: current, extras: { approval } }
  })
}

/** Returns the approvals the person decides on. Throws forbidden, with the reason, if there are none. */
function findDecidable({ userId, approvalId }: DecideOnChange, state: ChangeRecord): Approval[] {
  const { approvals, editorIds } = state
  const candidates =
    approvalId === undefined
      ? approvals.filter(({ status }) => status === 'pending')
      : approvals.filter(({ id }) => id === approvalId)
  if (approvalId !== undefined && candidates.length === 0)
    throw invalidField('/approvalId', 'not_found', 'The change has no such approval.')
  const open = filterDecidable(candidates, userId)
  if (open.length > 0) return open
  if (candidates.length > 0 && !state.dutiesCombined && editorIds.includes(userId))
    throw new ApiError('forbidden', 'An editor of this change cannot decide on it.')
  if (candidates.length > 0 && state.status === 'authorize' && technicalApprovers(state).includes(userId))
    throw new ApiError('forbidden', 'An approver of the technical stage cannot decide on the authorization.')
  const reasons = candidates.map((approval) => reasonCannotDecide(approval, userId))
  throw new ApiError('forbidden', reasons.find((reason) => reason !== undefined) ?? 'Nothing is pending.')
}
