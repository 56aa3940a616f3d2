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
 * Most bytes of approvals a change keeps, so that an event with the change before and after fits into a message of
 * NATS's default limit. What is dropped stays in the log.
 */
export const maxApprovalBytes = 160 * 1024

/** What of an approval still counts: it is pending, or was given to the change as it is. */
export const isInForce = ({ status }: Approval): boolean => status === 'pending' || status === 'approved'

/** What the technical stage of the present submission asks for, or was given. */
function technicalStage({ type, approvals, approvalPolicy }: ChangeRecord): Approval[] {
  return type === 'normal' ? approvals.filter(isInForce).slice(0, approvalPolicy?.technical.length ?? 0) : []
}

/** What was given in the technical stage of the present submission, once that stage is over. */
export const completedTechnicalStage = (change: ChangeRecord): Approval[] =>
  change.status === 'authorize' ? technicalStage(change) : []

/** Who has approved the technical stage and is therefore, by the policy, kept from the authorization. */
export function technicalApprovers(change: ChangeRecord): string[] {
  if (!change.approvalPolicy?.distinctApprovers || change.dutiesCombined) return []
  return technicalStage(change).flatMap(({ decisions }) => decisions.map(({ userId }) => userId))
}

/** The approvals of a change none of which stands any longer; decisions stay on record. */
export function voidAll(approvals: readonly Approval[], now: Instant): Approval[] {
  return approvals.map((approval) =>
    approval.status === 'approved'
      ? { ...approval, status: 'void', endedAt: now }
      : voidApproval(approval, now),
  )
}

/** Most bytes of comments on what stands. Decisions without one have room beside them. */
export const maxCommentBytes = 96 * 1024

/** Without the oldest that count no more, as far as they are too many. */
export function trimApprovals(approvals: readonly Approval[]): Approval[] {
  let over = byteLength(JSON.stringify(approvals)) - maxApprovalBytes
  return approvals.filter((approval) => {
    if (over <= 0 || isInForce(approval)) return true
    over -= byteLength(JSON.stringify(approval))
    return false
  })
}

/** Throws validation_failed naming /comment where there is no room for it beside those of others. */
export function checkComment(comment: string | null, approvals: readonly Approval[]): void {
  if (comment === null) return
  const made = approvals.filter(isInForce).flatMap(({ decisions }) => decisions)
  const bytes = made.reduce((sum, decision) => sum + byteLength(decision.comment ?? ''), byteLength(comment))
  if (bytes > maxCommentBytes)
    throw invalidField('/comment', 'too_long', 'The comments on this change are too long together.')
}

const byteLength = (text: string) => new TextEncoder().encode(text).length

/** Who is kept from deciding: who asked for it, has edited it, carries it out or was to, or counts for the stage before. */
export function findExcludedIds(change: ChangeRecord): string[] {
  const { requesterId, assigneeId, approvals, editorIds, dutiesCombined } = change
  if (dutiesCombined) return []
  const before = approvals.filter(isInForce).flatMap(({ excludedIds }) => excludedIds)
  const handed = assigneeId === null ? [] : [assigneeId]
  return [...new Set([requesterId, ...editorIds, ...before, ...handed, ...technicalApprovers(change)])]
}

/** Whether somebody's decision is among those it goes on by. */
function hasDecided({ approvals }: ChangeRecord, userId: string): boolean {
  const decisions = approvals.filter(isInForce).flatMap((approval) => approval.decisions)
  return decisions.some((made) => made.userId === userId)
}

/** Throws forbidden for whoever has decided on it, as they cannot become its assignee either. */
export function checkImplementer(change: ChangeRecord, userId: string): void {
  if (!change.dutiesCombined && hasDecided(change, userId))
    throw new ApiError('forbidden', 'Somebody who has not decided on the change must carry it out.')
}

/**
 * The change with another assignee, who is kept from deciding. Throws validation_failed where they have decided on it
 * already, and where too few would be left who may.
 */
export function reassign(before: ChangeRecord, after: ChangeRecord): ChangeRecord {
  const { assigneeId } = after
  if (assigneeId === null || assigneeId === before.assigneeId || before.dutiesCombined) return after
  if (hasDecided(before, assigneeId))
    throw invalidField('/assigneeId', 'has_decided', 'Who has decided on a change cannot carry it out.')
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
      `${approval.name} needs ${approval.required} approvals, and ${left} others could give one.`,
    )
  return { ...approval, excludedIds }
}

/** Throws validation_failed where the authorization cannot be met by those who may decide on the change. */
export function checkAuthorization(change: ChangeRecord): void {
  const unmet = unmetAuthorizationOfChange(change)
  if (unmet?.short) throw tooFewApprovers(unmet.rule, unmet.short, 'had no hand in this')
  if (unmet)
    throw invalidField(
      '/approvals',
      'too_few_approvers',
      `${formatRulePair(unmet)} cannot be met together, as who approves the technical stage does not count for the ` +
        'authorization: others have to be named in these rules.',
    )
}

/**
 * Throws conflict where what the person approves in the technical stage takes them from an authorization that needs
 * them, by a policy that asks for distinct approvers: the change would be stuck in its second stage.
 */
export function checkApproversLeft(change: ChangeRecord): void {
  const unmet = unmetAuthorizationOfChange(change)
  if (!unmet) return
  const { rule, short } = unmet
  const why = short
    ? `Who approves the technical stage cannot give ${rule.name}, which needs ${short.required} of its approvers. With ` +
      `your approval only ${short.left} would be left`
    : `With your approval ${formatRulePair(unmet)} could not be met together any longer, as who approves the technical stage does ` +
      'not count for the authorization'
  throw new ApiError('conflict', `${why}, so somebody else must approve the technical stage.`)
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
