import { type Approval, type ApprovalRule, type Instant, invalidField } from '@opsplane/contracts'
import { requested, voided } from '../approval/approval.js'
import type { ChangeRecord } from './duties.js'

/**
 * Most bytes of approvals a change keeps, so that an event with the change before and after fits into a message of
 * NATS's default limit. What is dropped stays in the log.
 */
export const maxApprovalBytes = 160 * 1024

/** What of an approval still counts: it is pending, or was given to the change as it is. */
export const stands = ({ status }: Approval): boolean => status === 'pending' || status === 'approved'

/** What was given in the technical stage of the present submission, once that stage is over. */
export function earlierStage({ type, status, approvals, approvalPolicy }: ChangeRecord): Approval[] {
  if (type !== 'normal' || status !== 'authorize') return []
  return approvals.filter(stands).slice(0, approvalPolicy?.technical.length ?? 0)
}

/** The approvals of a change none of which stands any longer; decisions stay on record. */
export function allVoid(approvals: readonly Approval[], now: Instant): Approval[] {
  return approvals.map((approval) =>
    approval.status === 'approved' ? { ...approval, status: 'void', endedAt: now } : voided(approval, now),
  )
}

/** Most bytes of comments on what stands. Decisions without one have room beside them. */
export const maxCommentBytes = 96 * 1024

/** Without the oldest that count no more, as far as they are too many. */
export function fitting(approvals: readonly Approval[]): Approval[] {
  let over = bytesOf(JSON.stringify(approvals)) - maxApprovalBytes
  return approvals.filter((approval) => {
    if (over <= 0 || stands(approval)) return true
    over -= bytesOf(JSON.stringify(approval))
    return false
  })
}

/** Throws validation_failed naming /comment where there is no room for it beside those of others. */
export function checkComment(comment: string | null, approvals: readonly Approval[]): void {
  if (comment === null) return
  const made = approvals.filter(stands).flatMap(({ decisions }) => decisions)
  const bytes = made.reduce((sum, decision) => sum + bytesOf(decision.comment ?? ''), bytesOf(comment))
  if (bytes > maxCommentBytes)
    throw invalidField('/comment', 'too_long', 'The comments on this change are too long together.')
}

const bytesOf = (text: string) => new TextEncoder().encode(text).length

/** Who is kept from deciding: who asked for it, who has edited it, and who carries it out or was to. */
export function excludedFrom({ requesterId, assigneeId, approvals, editorIds }: ChangeRecord): string[] {
  const before = approvals.filter(stands).flatMap(({ excludedIds }) => excludedIds)
  return [...new Set([requesterId, ...editorIds, ...before, ...(assigneeId === null ? [] : [assigneeId])])]
}

/**
 * The change with another assignee, who is kept from deciding. Throws validation_failed where they have decided on it
 * already, and where too few would be left who may.
 */
export function reassigned(before: ChangeRecord, after: ChangeRecord, now: Instant): ChangeRecord {
  const { assigneeId } = after
  if (assigneeId === null || assigneeId === before.assigneeId) return after
  const decisions = before.approvals.filter(stands).flatMap((approval) => approval.decisions)
  if (decisions.some(({ userId }) => userId === assigneeId))
    throw invalidField('/assigneeId', 'has_decided', 'Who has decided on a change cannot carry it out.')
  const next = { ...after, approvals: after.approvals.map((approval) => excluding(approval, assigneeId)) }
  if (next.status === 'assess') checkRules(next, next.approvalPolicy?.authorization ?? [], now)
  return next
}

function excluding(approval: Approval, assigneeId: string): Approval {
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

/** Throws validation_failed where a rule cannot be met by those who may decide on the change. */
export function checkRules(change: ChangeRecord, rules: readonly ApprovalRule[], now: Instant): void {
  const excludedIds = excludedFrom(change)
  for (const rule of rules) requested({ id: rule.name, rule, excludedIds, contentHash: '', now })
}
