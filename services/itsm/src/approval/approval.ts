import {
  type Actor,
  ApiError,
  type Approval,
  type ApprovalDecision,
  type ApprovalRule,
  canonicalJson,
  type Instant,
  invalidField,
} from '@opsplane/contracts'
import { sha256Hex } from '@opsplane/runtime'

/** Hash of the content an approval is for: decisions on other content do not count. */
export function hashContent(content: object): string {
  return sha256Hex(canonicalJson(content))
}

/** Throws validation_failed naming the place below `path`, such as `/approvals/0`, where a rule can never be met. */
export function checkApprovalRule({ approverIds, waitFor }: ApprovalRule, path: string): void {
  if (approverIds === null && (waitFor === 'all' || (typeof waitFor === 'object' && 'percent' in waitFor)))
    throw invalidField(
      `${path}/approverIds`,
      'required',
      'Waiting for all approvers or a percentage requires approverIds.',
    )
  if (approverIds && typeof waitFor === 'object' && 'count' in waitFor && waitFor.count > approverIds.length)
    throw invalidField(
      `${path}/waitFor`,
      'unreachable',
      'The rule needs more approvals than it has approvers.',
    )
}

export interface ApprovalRequest {
  id: string
  rule: ApprovalRule
  /** User ids that may not decide. They do not count for `all` and `percent` either. */
  excludedIds: readonly string[]
  contentHash: string
  now: Instant
}

/** A new pending approval. Throws validation_failed when too few eligible approvers are left. */
export function requestApproval({ id, rule, excludedIds, contentHash, now }: ApprovalRequest): Approval {
  const short = findShortfall(rule, excludedIds)
  if (short) throw tooFewApprovers(rule, short, 'may decide on this')
  const required = countRequired(rule, countEligible(rule, excludedIds))
  return {
    id,
    name: rule.name,
    approverIds: rule.approverIds,
    excludedIds: [...new Set(excludedIds)],
    required,
    contentHash,
    status: 'pending',
    decisions: [],
    requestedAt: now,
    endedAt: null,
  }
}

/** A pending approval for each rule, with the id at the same place. */
export function requestAllApprovals(
  rules: readonly ApprovalRule[],
  ids: readonly string[],
  request: Omit<ApprovalRequest, 'id' | 'rule'>,
): Approval[] {
  return rules.map((rule, index) => {
    const id = ids[index]
    if (id === undefined) throw new Error('There are more rules than ids for their approvals.')
    return requestApproval({ ...request, id, rule })
  })
}

export interface Shortfall {
  required: number
  /** How many may decide. */
  left: number
}

/** Undefined where a rule can be met by those who are not excluded. */
export function findShortfall(rule: ApprovalRule, excludedIds: readonly string[]): Shortfall | undefined {
  const left = countEligible(rule, excludedIds)
  const required = countRequired(rule, left)
  return left < required ? { required, left } : undefined
}

export function tooFewApprovers(
  { name }: ApprovalRule,
  { required, left }: Shortfall,
  what: string,
): ApiError {
  const needed = required === 1 ? 'an approval' : `${required} approvals`
  const eligible = left === 0 ? 'none' : `only ${left}`
  return invalidField(
    '/approvals',
    'too_few_approvers',
    `${name} needs ${needed}, and of its approvers ${eligible} ${what}: add approvers to the rule.`,
  )
}

function countEligible({ approverIds }: ApprovalRule, excludedIds: readonly string[]): number {
  return approverIds?.filter((userId) => !excludedIds.includes(userId)).length ?? Number.POSITIVE_INFINITY
}

/** How many of this number of approvers have to approve. */
export function countRequired({ waitFor }: ApprovalRule, approvers: number): number {
  if (waitFor === 'first') return 1
  if (waitFor === 'all') return Math.max(1, approvers)
  return 'count' in waitFor ? waitFor.count : Math.max(1, Math.ceil((approvers * waitFor.percent) / 100))
}

export interface NewDecision {
  by: Actor
  /** The person; an API key counts as its owner. */
  userId: string
  decision: ApprovalDecision['decision']
  comment: string | null
  contentHash: string
  now: Instant
}

/** Why the person may not decide; undefined when they may. */
export function reasonCannotDecide(approval: Approval, userId: string): string | undefined {
  if (approval.status !== 'pending') return `${approval.name} is already ${approval.status}.`
  if (approval.excludedIds.includes(userId))
    return 'The requester, editors and implementers cannot decide on this approval.'
  if (approval.approverIds && !approval.approverIds.includes(userId))
    return `You are not one of the approvers of ${approval.name}.`
  if (approval.decisions.some((made) => made.userId === userId))
    return 'You have already decided on this approval.'
  return undefined
}

/** Those of the approvals the person may decide on. */
export const filterDecidable = (approvals: readonly Approval[], userId: string): Approval[] =>
  approvals.filter((approval) => reasonCannotDecide(approval, userId) === undefined)

/**
 * Adds a decision. One rejection rejects; enough approvals approve. Throws forbidden for a person who may not decide, and
 * conflict when the content has changed since approval was requested.
 */
export function recordDecision(approval: Approval, deciding: NewDecision): Approval {
  const { by, userId, decision, comment, contentHash, now } = deciding
  const reason = reasonCannotDecide(approval, userId)
  if (reason !== undefined) throw new ApiError('forbidden', reason)
  if (contentHash !== approval.contentHash)
    throw new ApiError('conflict', 'The content has changed since approval was requested. Submit it again.')
  const decisions = [...approval.decisions, { by, userId, decision, comment, contentHash, at: now }]
  const approvals = decisions.filter((made) => made.decision === 'approved').length
  const status =
    decision === 'rejected' ? 'rejected' : approvals >= approval.required ? 'approved' : 'pending'
  return { ...approval, decisions, status, endedAt: status === 'pending' ? null : now }
}

/** Voids a pending approval; its decisions stay on record. */
export function voidApproval(approval: Approval, now: Instant): Approval {
  return approval.status === 'pending' ? { ...approval, status: 'void', endedAt: now } : approval
}
