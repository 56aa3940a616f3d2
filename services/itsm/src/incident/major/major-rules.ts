import { type Criticality, IncidentState, type MajorRule } from '@opsplane/contracts'

/** What rules look at; `criticality` is that of the item the incident is about, null without one. */
export interface MajorRuleInput extends Pick<IncidentState, 'priority' | 'childCount'> {
  criticality: Criticality | null
}

/** A change of these may make a rule hold. */
const RuleFields = IncidentState.pick({ priority: true, ciId: true, childCount: true })
const ruledFields = Object.keys(RuleFields.shape)

export const affectsRules = (before: unknown, changes: readonly string[]): boolean =>
  before === null || ruledFields.some((field) => changes.includes(field))

/** Whether one of the rules may hold for an incident as an event carries it, whatever its item is like. */
export function mayMatch(rules: readonly MajorRule[], after: unknown): boolean {
  const { ciId, ...incident } = RuleFields.parse(after)
  const apartFromItems = rules.flatMap(({ criticalities, ...rule }) =>
    criticalities && ciId === null ? [] : [rule],
  )
  return findProposalReason(apartFromItems, { ...incident, criticality: null }) !== undefined
}

/** The first rule that holds, and why. */
export function findProposalReason(
  rules: readonly MajorRule[],
  incident: MajorRuleInput,
): string | undefined {
  for (const rule of rules) {
    const reasons = findReasons(rule, incident)
    if (reasons !== null) return `${rule.name}: ${reasons.join(', ')}.`
  }
  return undefined
}

/** What of the incident each part of the rule is met by; null where one is not. */
function findReasons(
  rule: MajorRule,
  { priority, criticality, childCount }: MajorRuleInput,
): string[] | null {
  const { priorities, criticalities, minChildren } = rule
  const reasons: string[] = []
  if (priorities) {
    if (!priorities.includes(priority)) return null
    reasons.push(`priority ${priority}`)
  }
  if (criticalities) {
    if (criticality === null || !criticalities.includes(criticality)) return null
    reasons.push(`an item of ${criticality} criticality`)
  }
  if (minChildren !== undefined) {
    if (childCount < minChildren) return null
    reasons.push(`${childCount} ${childCount === 1 ? 'child' : 'children'}`)
  }
  return reasons
}
