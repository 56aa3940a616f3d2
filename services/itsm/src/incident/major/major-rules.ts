import { type Criticality, IncidentState, type MajorRule } from '@opsplane/contracts'

/** Input of the rules. `criticality` is that of the incident's item, `null` if it has none. */
export interface MajorRuleInput extends Pick<IncidentState, 'priority' | 'childCount'> {
  criticality: Criticality | null
}

/** A change of these fields may make a rule match. */
const RuleFields = IncidentState.pick({ priority: true, ciId: true, childCount: true })
const ruledFields = Object.keys(RuleFields.shape)

export const affectsRules = (before: unknown, changes: readonly string[]): boolean =>
  before === null || ruledFields.some((field) => changes.includes(field))

/** Whether a rule may match the incident in an event, assuming any criticality of its item. */
export function mayMatch(rules: readonly MajorRule[], after: unknown): boolean {
  const { ciId, ...incident } = RuleFields.parse(after)
  const apartFromItems = rules.flatMap(({ criticalities, ...rule }) =>
    criticalities && ciId === null ? [] : [rule],
  )
  return findProposalReason(apartFromItems, { ...incident, criticality: null }) !== undefined
}

/** Returns the name and reasons of the first matching rule. */
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

/** Returns a reason for each part of the rule; `null` if a part does not match. */
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
