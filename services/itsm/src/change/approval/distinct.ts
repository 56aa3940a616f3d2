import type { Approval, ApprovalRule, ChangeApprovalPolicy } from '@opsplane/contracts'
import { type Shortfall, shortfallOf } from '../../approval/approval.js'
import { clashOf, type Need } from './both-stages.js'

/** Approvals that are missing in the technical stage, and who may still give them. */
export interface Asked extends Need {
  name: string
}

export const askedBy = (approval: Approval): Asked => {
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

/** An authorization that too few are left for. */
export interface Unmet {
  index: number
  rule: ApprovalRule
  /** Where it lacks approvers by itself. */
  short: Shortfall | undefined
  /** Else what it cannot be met together with, and it: rules of both stages, by name. */
  together: string
}

/**
 * The first authorization that cannot be met, as who approves the technical stage does not approve it where the policy
 * asks for distinct approvers. Whatever is not unmet can be met by some of those who may still decide.
 */
export function unmetAfter(
  asked: readonly Asked[],
  { distinctApprovers, authorization }: Pick<ChangeApprovalPolicy, 'distinctApprovers' | 'authorization'>,
  excludedIds: readonly string[],
): Unmet | undefined {
  const wanted = authorization.map((rule) => needOf(rule, excludedIds))
  const clash = clashOf(distinctApprovers ? asked : [], wanted)
  const [index] = clash?.after ?? []
  const rule = index === undefined ? undefined : authorization[index]
  if (clash === undefined || index === undefined || rule === undefined) return undefined
  const names = [
    ...clash.before.map((place) => `${asked[place]?.name} (technical)`),
    ...clash.after.map((place) => `${authorization[place]?.name} (authorization)`),
  ]
  const together = new Intl.ListFormat('en').format(names)
  return { index, rule, short: shortfallOf(rule, excludedIds), together }
}

/** All, or a percentage, are of those who are left: one is enough. */
function needOf({ approverIds, waitFor }: ApprovalRule, excludedIds: readonly string[]): Need {
  return {
    people: approverIds?.filter((id) => !excludedIds.includes(id)) ?? null,
    count: typeof waitFor === 'object' && 'count' in waitFor ? waitFor.count : 1,
  }
}
