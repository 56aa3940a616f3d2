import { ApiError, type Approval, type Instant, invalidField } from '@opsplane/contracts'
import { tooFewApprovers, voidApproval } from '../../approval/approval.js'
import {
  findUnmetAuthorization,
  formatRulePair,
  toMissingApprovals,
  type UnmetAuthorization,
} from './distinct-approvers.js'
import type { ChangeRecord } from './separation-of-duties.js'

/**
 * Maximum bytes of approvals stored with a change, so that an event with the change before and after fits into a NATS
 * message of the default size limit. Dropped approvals remain in the log.
 */
export const maxApprovalBytes = 160 * 1024

/** Whether an approval counts: it is pending, or it approves the current content. */
export const isInForce = ({ status }: Approval): boolean => status === 'pending' || status === 'approved'

/** Returns the approvals of the technical stage of the current submission. */
function technicalStage({ type, approvals, approvalPolicy }: ChangeRecord): Approval[] {
  return type === 'normal' ? approvals.filter(isInForce).slice(0, approvalPolicy?.technical.length ?? 0) : []
}

/** Returns the approvals of the technical stage of the current submission once that stage is over; otherwise none. */
export const completedTechnicalStage = (change: ChangeRecord): Approval[] =>
  change.status === 'authorize' ? technicalStage(change) : []

/** Returns the approvers of the technical stage, whom the policy excludes from the authorization. */
export function technicalApprovers(change: ChangeRecord): string[] {
  if (!change.approvalPolicy?.distinctApprovers || change.dutiesCombined) return []
  return technicalStage(change).flatMap(({ decisions }) => decisions.map(({ userId }) => userId))
}

/** Returns the approvals with status void. Decisions stay on record. */
export function voidAll(approvals: readonly Approval[], now: Instant): Approval[] {
  return approvals.map((approval) =>
    approval.status === 'approved'
      ? { ...approval, status: 'void', endedAt: now }
      : voidApproval(approval, now),
  )
}

/** Maximum bytes of comments on approvals in force. The limit leaves room for decisions without a comment. */
export const maxCommentBytes = 96 * 1024

/** Drops the oldest approvals that no longer count until the remaining ones fit. */
export function trimApprovals(approvals: readonly Approval[]): Approval[] {
  let over = byteLength(JSON.stringify(approvals)) - maxApprovalBytes
  return approvals.filter((approval) => {
    if (over <= 0 || isInForce(approval)) return true
    over -= byteLength(JSON.stringify(approval))
    return false
  })
}

/** Throws validation_failed naming /comment if the comments together are too long. */
export function checkComment(comment: string | null, approvals: readonly Approval[]): void {
  if (comment === null) return
  const made = approvals.filter(isInForce).flatMap(({ decisions }) => decisions)
  const bytes = made.reduce((sum, decision) => sum + byteLength(decision.comment ?? ''), byteLength(comment))
  if (bytes > maxCommentBytes)
    throw invalidField('/comment', 'too_long', 'The comments on this change are too long together.')
}

const byteLength = (text: string) => new TextEncoder().encode(text).length

/** Users who may not decide: the requester, editors, all assignees, and approvers of the previous stage. */
export function findExcludedIds(change: ChangeRecord): string[] {
  const { requesterId, assigneeId, approvals, editorIds, dutiesCombined } = change
  if (dutiesCombined) return []
  const before = approvals.filter(isInForce).flatMap(({ excludedIds }) => excludedIds)
  const handed = assigneeId === null ? [] : [assigneeId]
  return [...new Set([requesterId, ...editorIds, ...before, ...handed, ...technicalApprovers(change)])]
}

/** Whether the user has made a decision that is in force. */
function hasDecided({ approvals }: ChangeRecord, userId: string): boolean {
  const decisions = approvals.filter(isInForce).flatMap((approval) => approval.decisions)
  return decisions.some((made) => made.userId === userId)
}

/** Throws forbidden for an approver of the change, who may not become its assignee either. */
export function checkImplementer(change: ChangeRecord, userId: string): void {
  if (!change.dutiesCombined && hasDecided(change, userId))
    throw new ApiError('forbidden', 'An approver of this change cannot implement it.')
}

/**
 * Returns the change with another assignee, who may not decide on it. Throws validation_failed if the assignee has
 * already decided, or if too few approvers would be left.
 */
export function reassign(before: ChangeRecord, after: ChangeRecord): ChangeRecord {
  const { assigneeId } = after
  if (assigneeId === null || assigneeId === before.assigneeId || before.dutiesCombined) return after
  if (hasDecided(before, assigneeId))
    throw invalidField('/assigneeId', 'has_decided', 'An approver of this change cannot implement it.')
  const next = { ...after, approvals: after.approvals.map((approval) => exclude(approval, assigneeId)) }
  if (next.status === 'assess') checkAuthorization(next)
  return next
}

function exclude(approval: Approval, assigneeId: string): Approval {
  if (approval.status !== 'pending' || approval.excludedIds.includes(assigneeId)) return approval
  const excludedIds = [...approval.excludedIds, assigneeId]
  const left = approval.approverIds?.filter((id) => !excludedIds.includes(id)).length
  if (left !== undefined && left < approval.required)
    throw invalidField(
      '/assigneeId',
      'too_few_approvers',
      `${approval.name} needs ${approval.required} approvals, and only ${left} other approvers would be left.`,
    )
  return { ...approval, excludedIds }
}

/** Throws validation_failed if too few eligible approvers are left for the authorization. */
export function checkAuthorization(change: ChangeRecord): void {
  const unmet = unmetAuthorizationOfChange(change)
  if (unmet?.short) throw tooFewApprovers(unmet.rule, unmet.short, 'may decide on this')
  if (unmet)
    throw invalidField(
      '/approvals',
      'too_few_approvers',
      `${formatRulePair(unmet)} cannot be met together, as approvers of the technical stage do not count for the ` +
        'authorization: add approvers to these rules.',
    )
}

/**
 * Throws conflict if the person's approval of the technical stage would exclude them from an authorization that needs
 * them, because the policy requires distinct approvers: the change would be stuck in its second stage.
 */
export function checkApproversLeft(change: ChangeRecord): void {
  const unmet = unmetAuthorizationOfChange(change)
  if (!unmet) return
  const { rule, short } = unmet
  const why = short
    ? `An approver of the technical stage cannot give ${rule.name}, which needs ${short.required} of its approvers. With ` +
      `your approval only ${short.left} would be left`
    : `With your approval ${formatRulePair(unmet)} could no longer be met together, as approvers of the technical stage do ` +
      'not count for the authorization'
  throw new ApiError('conflict', `${why}, so another person must approve the technical stage.`)
}

function unmetAuthorizationOfChange(change: ChangeRecord): UnmetAuthorization | undefined {
  const { approvalPolicy } = change
  if (!approvalPolicy) return undefined
  return findUnmetAuthorization(
    technicalStage(change).map(toMissingApprovals),
    approvalPolicy,
    findExcludedIds(change),
  )
}
