import type { Approval, ApprovalRule, ChangeApprovalPolicy } from '@opsplane/contracts'
import { findShortfall, type Shortfall } from '../../approval/approval.js'

/** Approvals still required in the technical stage. */
export interface MissingApprovals {
  name: string
  /** Users who may still approve; `null` for anyone. */
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
  /** Set if the authorization rule lacks approvers by itself. */
  short: Shortfall | undefined
  /** Otherwise the name of the first technical rule that needs its approvers. */
  technicalRule: string
}

export const formatRulePair = ({ technicalRule, rule }: UnmetAuthorization): string =>
  `${technicalRule} (technical) and ${rule.name} (authorization)`

/**
 * Returns the first authorization rule that cannot be met, considering that approvers of the technical stage may not
 * approve it if the policy requires distinct approvers. Each technical rule is checked separately: a shortage caused by
 * several rules together is reported at the approval that would leave too few.
 */
export function findUnmetAuthorization(
  technicalRules: readonly MissingApprovals[],
  { distinctApprovers, authorization }: Pick<ChangeApprovalPolicy, 'distinctApprovers' | 'authorization'>,
  excludedIds: readonly string[],
): UnmetAuthorization | undefined {
  for (const [index, rule] of authorization.entries()) {
    const short = findShortfall(rule, excludedIds)
    const technicalRule = distinctApprovers
      ? technicalRules.find((technical) => exceedsApprovers(technical, rule, excludedIds))
      : undefined
    if (short || technicalRule) return { index, rule, short, technicalRule: technicalRule?.name ?? '' }
  }
  return undefined
}

/** Whether the technical rule needs more of the authorization's approvers than the authorization can spare. */
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

/** The modes `all` and percentage apply to the approvers who are left, so one approval is enough. */
const minApprovals = ({ waitFor }: ApprovalRule): number =>
  typeof waitFor === 'object' && 'count' in waitFor ? waitFor.count : 1
