import type { ApprovalRule, CatalogRequestState, Instant } from '@opsplane/contracts'
import {
  filterDecidable,
  hashContent,
  recordDecision,
  requestAllApprovals,
  voidApproval,
} from '../approval/approval.js'
import type { ActingUser, ApproveRequest, RequestCommand } from './request-commands.js'
import { automaticStepEvent, type RequestDecision } from './request-decision.js'
import { startTasks } from './request-tasks.js'
import { requestStatusAfter } from './request-transitions.js'

/** Hash of the part of a request that is approved. This part does not change after submission. */
const hashRequest = ({ itemId, itemRevision, formData, quantity }: CatalogRequestState) =>
  hashContent({ itemId, itemRevision, formData, quantity })

/** Returns the request waiting for its approvals. Neither the requester nor the recipient may decide. */
export function requestApprovals(
  rules: readonly ApprovalRule[],
  ids: readonly string[],
  now: Instant,
  state: CatalogRequestState,
): CatalogRequestState {
  const excludedIds = [state.requesterId, state.requestedFor]
  const contentHash = hashRequest(state)
  const approvals = requestAllApprovals(rules, ids, { excludedIds, contentHash, now })
  return { ...state, status: 'awaiting_approval', approvals }
}

/** Counts for every approval the person may decide on. The last required approval starts the work. */
export function approve(command: ApproveRequest, state: CatalogRequestState): RequestDecision[] {
  requestStatusAfter('approve', state)
  const { by, now, comment, plan, taskIds } = command
  const approvals = recordDecisions(by, { decision: 'approved', comment, now }, state)
  const complete = approvals.every(({ status }) => status === 'approved')
  const status = requestStatusAfter('approve', state, complete ? 'approved' : 'awaiting_approval')
  const after = { ...state, status, approvals, updatedAt: now }
  if (!complete) return [{ type: 'request.updated', after }]
  const granted = { ...after, approvedAt: now }
  return [
    { type: 'request.approved', after: granted },
    automaticStepEvent(granted, startTasks(plan, taskIds, now, granted)),
  ]
}

/** One rejection is enough; the remaining approvals become void. */
export function reject(
  { by, now, reason }: RequestCommand & { kind: 'reject' },
  state: CatalogRequestState,
): RequestDecision[] {
  const status = requestStatusAfter('reject', state)
  const approvals = recordDecisions(by, { decision: 'rejected', comment: reason, now }, state).map(
    (approval) => voidApproval(approval, now),
  )
  const after = { ...state, status, approvals, reason, closedAt: now, updatedAt: now }
  return [{ type: 'request.rejected', after, extras: { reason } }]
}

interface DecisionInput {
  decision: 'approved' | 'rejected'
  comment: string | null
  now: Instant
}

/** Throws forbidden if the person may not decide on any approval, with the reason for the first pending one. */
function recordDecisions({ actor, userId }: ActingUser, decisive: DecisionInput, state: CatalogRequestState) {
  const { approvals } = state
  const newDecision = { ...decisive, by: actor, userId, contentHash: hashRequest(state) }
  const open = filterDecidable(approvals, userId)
  const first = approvals.find(({ status }) => status === 'pending')
  if (open.length === 0 && first) recordDecision(first, newDecision)
  return approvals.map((approval) =>
    open.includes(approval) ? recordDecision(approval, newDecision) : approval,
  )
}
