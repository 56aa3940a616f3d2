import type { Approval, ApprovalRule, ChangeApprovalPolicy } from '@opsplane/contracts'
import { findShortfall, type Shortfall } from '../../approval/approval.js'

/** Approvals still required in the technical stage. */
export interface MissingApprovals {
  name: string
  /** Who may still give them; null for anyone. */
  people: readonly string[] | null
  count: number
}

export const toMissingApprovals = (approval: Approval): MissingApprovals => {
  const { name, status, approverIds, excludedIds, decisions, required } = approval
  return {
    name,
    people:
      approverIds?.filter(
        (id) => !excludedIds.includes(id) && !decisions.some(({ userId }) => userId === id),
      ) ?? null,
    count: status === 'pending' ? required - decisions.length : 0,
  }
}

/** An authorization with too few approvers left. */
export interface UnmetAuthorization {
  index: number
  rule: ApprovalRule
  /** Where it lacks approvers by itself. */
  short: Shortfall | undefined
  /** Else the technical rule that needs them first. */
  technicalRule: string
}

export const formatRulePair = ({ technicalRule, rule }: UnmetAuthorization): string =>
  `${technicalRule} (technical) and ${rule.name} (authorization)`

/**
 * The first authorization that cannot be met, as who approves the technical stage does not approve it where the policy
 * asks for distinct approvers. Checks it against each technical rule by itself: what several use up only together
 * shows at the approval that leaves too few.
 */
export function findUnmetAuthorization(
  asked: readonly MissingApprovals[],
  { distinctApprovers, authorization }: Pick<ChangeApprovalPolicy, 'distinctApprovers' | 'authorization'>,
  excludedIds: readonly string[],
): UnmetAuthorization | undefined {
  for (const [index, rule] of authorization.entries()) {
    const short = findShortfall(rule, excludedIds)
    const technicalRule = distinctApprovers
      ? asked.find((technical) => exceedsApprovers(technical, rule, excludedIds))
      : undefined
    if (short || technicalRule) return { index, rule, short, technicalRule: technicalRule?.name ?? '' }
  }
  return undefined
}

/** Whether the technical rule takes more of the approvers of the other one than that can spare. */
function exceedsApprovers(
  { people, count }: MissingApprovals,
  rule: ApprovalRule,
  excludedIds: readonly string[],
): boolean {
  const approvers = rule.approverIds?.filter((id) => !excludedIds.includes(id))
  if (!people || !approvers) return false
  const others = people.filter((id) => !approvers.includes(id)).length
  return count - others > approvers.length - minApprovals(rule)
}

/** All, or a percentage, are of those who are left: one is enough. */
const minApprovals = ({ waitFor }: ApprovalRule): number =>
  typeof waitFor === 'object' && 'count' in waitFor ? waitFor.count : 1
