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

/** Hash of the content under approval. A decision made on different content does not count. */
export function hashContent(content: object): string {
  return sha256Hex(canonicalJson(content))
}

/**
 * Throws validation_failed if a rule can never be met. The error names its place below `path`, such as
 * `/approvals/0`.
 */
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
  /** Ids of users who may not decide. The modes `all` and `percent` do not count them either. */
  excludedIds: readonly string[]
  contentHash: string
  now: Instant
}

/** Creates a pending approval. Throws validation_failed if too few eligible approvers are left. */
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

/** Creates a pending approval for each rule, using the id at the same index. */
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
  /** Number of people who may decide. */
  left: number
}

/** Returns `undefined` if people who are not excluded can meet the rule. */
export function findShortfall(rule: ApprovalRule, excludedIds: readonly string[]): Shortfall | undefined {
  const left = countEligible(rule, excludedIds)
  const required = countRequired(rule, left)
  return left < required ? { required, left } : undefined
}

export function tooFewApprovers(
  { name }: ApprovalRule,
  { required, left }: Shortfall,
  predicate: string,
): ApiError {
  const needed = required === 1 ? 'an approval' : `${required} approvals`
  const eligible = left === 0 ? 'none' : `only ${left}`
  return invalidField(
    '/approvals',
    'too_few_approvers',
    `${name} needs ${needed}, and of its approvers ${eligible} ${predicate}: add approvers to the rule.`,
  )
}

function countEligible({ approverIds }: ApprovalRule, excludedIds: readonly string[]): number {
  return approverIds?.filter((userId) => !excludedIds.includes(userId)).length ?? Number.POSITIVE_INFINITY
}

/** Number of approvals required from the given number of approvers. */
export function countRequired({ waitFor }: ApprovalRule, approvers: number): number {
  if (waitFor === 'first') return 1
  if (waitFor === 'all') return Math.max(1, approvers)
  return 'count' in waitFor ? waitFor.count : Math.max(1, Math.ceil((approvers * waitFor.percent) / 100))
}

export interface NewDecision {
  by: Actor
  /** Id of the person who decides. For an API key, its owner. */
  userId: string
  decision: ApprovalDecision['decision']
  comment: string | null
  contentHash: string
  now: Instant
}

/** Returns the reason why the person may not decide, or `undefined` if they may. */
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

/** Returns the approvals that the person may decide on. */
export const filterDecidable = (approvals: readonly Approval[], userId: string): Approval[] =>
  approvals.filter((approval) => reasonCannotDecide(approval, userId) === undefined)

/**
 * Adds a decision. One rejection rejects the approval; enough approvals approve it. Throws forbidden if the person may
 * not decide, and conflict if the content has changed since approval was requested.
 */
export function recordDecision(approval: Approval, newDecision: NewDecision): Approval {
  const { by, userId, decision, comment, contentHash, now } = newDecision
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
