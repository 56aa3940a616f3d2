import {
  ApiError,
  type Approval,
  type ApprovalDecision,
  type ApprovalRule,
  type ChangeState,
  type ErrorDetail,
  type Instant,
  invalidField,
} from '@opsplane/contracts'
import { decided, hindrance, requested } from '../approval/approval.js'
import { allVoid, checkComment, checkRules, excludedFrom, fitting } from './approval-record.js'
import type { CommandOf, DecideOnChange } from './commands.js'
import { hashOf } from './content.js'
import type { ChangeDecision } from './domain.js'
import { policyFor } from './policy.js'
import { riskOf } from './risk.js'
import { statusAfter } from './transitions.js'

/** Nothing that was asked for or given counts any longer: it is to be submitted anew. */
export function withdrawn(change: ChangeState, now: Instant): ChangeState {
  return { ...change, approvalPolicy: null, approvals: allVoid(change.approvals, now) }
}

/** Hands a draft in. Throws validation_failed naming every field that is missing. */
export function submitted(
  { userId, facts, policies, approvalIds, now }: CommandOf<'submit'>,
  state: ChangeState,
): ChangeDecision {
  const status = statusAfter('submit', state)
  checkComplete(state)
  const judged = { ...state, ...riskOf(state, facts), rejectionReason: null, updatedAt: now }
  if (state.type === 'standard') return { type: 'change.submitted', after: { ...judged, status } }
  const asking = { ...judged, approvalPolicy: policyFor(judged, policies) }
  const { technical, authorization } = asking.approvalPolicy
  const asked = request(asking, status === 'assess' ? technical : authorization, approvalIds, now, userId)
  checkRules(asked, authorization, now)
  return { type: 'change.submitted', after: { ...asked, status } }
}

function checkComplete(change: ChangeState): void {
  const window = ['plannedStart', 'plannedEnd'] as const
  const plans = change.type === 'normal' ? (['implementationPlan', 'backoutPlan'] as const) : []
  const details = [...window, ...plans].flatMap((name): ErrorDetail[] =>
    change[name] === null
      ? [{ in: 'body', path: `/${name}`, code: 'required', message: 'needed to submit the change' }]
      : [],
  )
  if (details.length > 0)
    throw new ApiError('validation_failed', 'The change lacks what is needed to submit it.', { details })
}

function request(
  change: ChangeState,
  rules: readonly ApprovalRule[],
  ids: readonly string[],
  now: Instant,
  submitterId?: string,
): ChangeState {
  const excludedIds = [...excludedFrom(change), ...(submitterId === undefined ? [] : [submitterId])]
  const contentHash = hashOf(change)
  const asked = rules.map((rule, index) => {
    const id = ids[index]
    if (id === undefined) throw new Error('There are more rules than ids for their approvals.')
    return requested({ id, rule, excludedIds, contentHash, now })
  })
  return { ...change, approvals: fitting([...change.approvals, ...asked]) }
}

/** One decision for each approval; the last one that was pending takes the change to its next stage. */
export function approved(command: CommandOf<'approve'>, state: ChangeState): ChangeDecision[] {
  statusAfter('approve', state)
  const decisions = recorded(command, 'approved', command.comment ?? null, state)
  const last = decisions.at(-1)
  if (!last || last.after.approvals.some(({ status }) => status === 'pending')) return decisions
  const { after } = last
  if (state.status === 'assess') {
    const rules = after.approvalPolicy?.authorization ?? []
    const next = request(after, rules, command.approvalIds, command.now)
    const status = statusAfter('approve', state, 'authorize')
    return [...decisions.slice(0, -1), { ...last, after: { ...next, status } }]
  }
  const status = statusAfter('approve', state, 'scheduled')
  return [...decisions, { type: 'change.approved', after: { ...after, status } }]
}

/** One refusal is enough, and what others have approved until then no longer counts. */
export function rejected(command: CommandOf<'reject'>, state: ChangeState): ChangeDecision[] {
  const { reason, now } = command
  const status = statusAfter('reject', state)
  const decisions = recorded(command, 'rejected', reason, state)
  const after = withdrawn(decisions.at(-1)?.after ?? state, now)
  const extras = { reason }
  return [
    ...decisions,
    { type: 'change.rejected', after: { ...after, status, rejectionReason: reason }, extras },
  ]
}

function recorded(
  command: DecideOnChange & { now: Instant },
  decision: ApprovalDecision['decision'],
  comment: string | null,
  state: ChangeState,
): ChangeDecision[] {
  const { by, userId, now } = command
  const contentHash = hashOf(state)
  let current = state
  return decidable(command, state).map((open) => {
    if (decision === 'approved') checkComment(comment, current.approvals)
    const approval = decided(open, { by, userId, decision, comment, contentHash, now })
    const approvals = current.approvals.map((one) => (one.id === approval.id ? approval : one))
    current = { ...current, approvals: fitting(approvals), updatedAt: now }
    return { type: 'change.approval_recorded', after: current, extras: { approval } }
  })
}

/** The approvals the person decides on. Throws forbidden, with the reason, when there are none. */
function decidable({ userId, approvalId }: DecideOnChange, { approvals }: ChangeState): Approval[] {
  const meant =
    approvalId === undefined
      ? approvals.filter(({ status }) => status === 'pending')
      : approvals.filter(({ id }) => id === approvalId)
  if (approvalId !== undefined && meant.length === 0)
    throw invalidField('/approvalId', 'not_found', 'The change has no such approval.')
  const open = meant.filter((approval) => hindrance(approval, userId) === undefined)
  if (open.length > 0) return open
  const reasons = meant.map((approval) => hindrance(approval, userId))
  throw new ApiError('forbidden', reasons.find((reason) => reason !== undefined) ?? 'Nothing is pending.')
}
