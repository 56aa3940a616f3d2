import type { Approval, ApprovalRule, ChangeApprovalPolicy } from '@opsplane/contracts'
import { shortfallOf } from '../approval/approval.js'

/** What is asked of somebody: of whom, null for anyone, and how many approvals are missing. */
export interface Asked {
  among: readonly string[] | null
  missing: number
}

export const askedBy = ({ status, approverIds, excludedIds, decisions, required }: Approval): Asked => ({
  among:
    approverIds?.filter(
      (id) => !excludedIds.includes(id) && !decisions.some(({ userId }) => userId === id),
    ) ?? null,
  missing: status === 'pending' ? required - decisions.length : 0,
})

export interface Unmet {
  index: number
  rule: ApprovalRule
  required: number
  left: number
}

/**
 * The first authorization that the policy's technical stage would leave too few for, as who approves the one does not
 * approve the other. It is a lower bound: of whom approvals are still missing, those count who cannot but be among them.
 */
export function unmetAfter(
  asked: readonly Asked[],
  { distinctApprovers, authorization }: Pick<ChangeApprovalPolicy, 'distinctApprovers' | 'authorization'>,
  excludedIds: readonly string[],
): Unmet | undefined {
  for (const [index, rule] of authorization.entries()) {
    const left = rule.approverIds?.filter((id) => !excludedIds.includes(id)) ?? []
    const short = shortfallOf(rule, excludedIds, distinctApprovers ? fewestSpent(asked, left) : 0)
    if (short) return { index, rule, ...short }
  }
  return undefined
}

/** How many of these people at least approve before, as there are not enough others who could. */
function fewestSpent(asked: readonly Asked[], people: readonly string[]): number {
  const needs = asked.map(({ among, missing }) => {
    const inside = among?.filter((id) => people.includes(id)) ?? []
    return { inside, needed: among === null ? 0 : Math.max(0, missing - (among.length - inside.length)) }
  })
  const certain = new Set(needs.flatMap(({ inside, needed }) => (needed === inside.length ? inside : [])))
  return Math.max(certain.size, ...needs.map(({ needed }) => needed))
}
