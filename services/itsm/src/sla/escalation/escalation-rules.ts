import {
  type IncidentState,
  invalidField,
  type ReachedThreshold,
  type SlaEscalation,
  type SlaPolicyState,
  type SlaTimer,
} from '@opsplane/contracts'
import { isMoreSevere } from '../../incident/escalate-levels.js'
import type { IncidentStep } from '../../incident/steps.js'
import { maxWatchers } from '../../incident/watchers.js'

/** Percentage of the goal at which it is breached. */
export const breachPercent = 100

type EscalatingPolicy = Pick<SlaPolicyState, 'entityType' | 'warnings' | 'escalations'>

/** Throws validation_failed for a rule that would never apply or has no action. */
export function checkEscalations({ entityType, warnings, escalations }: EscalatingPolicy): void {
  if (escalations.length > 0 && entityType !== 'incident')
    throw invalidField('/escalations', 'unfit_escalations', 'Only incidents are escalated.')
  escalations.forEach(({ atPercent, ...actions }, index) => {
    if (atPercent !== breachPercent && !warnings.includes(atPercent))
      throw invalidField(
        `/escalations/${index}/atPercent`,
        'no_warning',
        `Nothing is reported at ${atPercent} %: name one of the warnings, or 100 for the breach.`,
      )
    if (Object.values(actions).every((action) => action === undefined))
      throw invalidField(
        `/escalations/${index}`,
        'does_nothing',
        'A rule needs a severity, assignmentGroup, escalateTo, assigneeId or watcherIds.',
      )
  })
}

/** Returns the rules of the policy for a clock that has used this percentage of its goal. */
export const rulesAt = ({ escalations }: Pick<SlaPolicyState, 'escalations'>, percent: number) =>
  escalations.filter(({ atPercent }) => atPercent === percent)

/** A threshold that a clock reported, from the log, and the policy it was pinned to at that time. */
export interface Firing {
  eventId: string
  version: number
  percent: number
  timer: SlaTimer
  policy: SlaPolicyState
}

/**
 * Returns the thresholds reported after the version `after` whose rules are to be applied. Each percentage applies once
 * per clock, or once per recurring span: after a change of goal the clock may reach the same percentage again, but the
 * same escalation need not be repeated.
 */
export function dueFirings(firings: readonly Firing[], after: number): Firing[] {
  const seenThresholds = new Set<string>()
  return firings.filter(({ percent, policy, version, timer }) => {
    const once = `${timer.startedAt} ${percent}`
    if (seenThresholds.has(once) || rulesAt(policy, percent).length === 0) return false
    seenThresholds.add(once)
    return version > after
  })
}

export const toReachedThreshold = ({ timer, percent }: Firing): ReachedThreshold => ({
  timerId: timer.id,
  policyId: timer.policyId,
  policyName: timer.policyName,
  percent,
})

/** Text for the reason of an escalation. */
export function formatReason({ timer: { policyName, metric }, percent }: Firing): string {
  const metricLabel = metric.replaceAll('_', ' ')
  return percent === breachPercent
    ? `SLA ${policyName}: the goal for its ${metricLabel} was missed.`
    : `SLA ${policyName}: ${percent} % of the time for its ${metricLabel} is used up.`
}

/**
 * The steps of a rule that still change the incident, and in `left` the users who can no longer be added as
 * watchers.
 */
export interface StepPlan {
  steps: IncidentStep[]
  left: string[]
}

/** Returns the steps of one rule, in the order of a PATCH. */
export function planSteps(rule: SlaEscalation, state: IncidentState, reason: string): StepPlan {
  const { severity, assignmentGroup, escalateTo, assigneeId, watcherIds = [] } = rule
  const following = new Set(state.watcherIds)
  const left: string[] = []
  const follows = (id: string) => {
    if (following.has(id) || following.size < maxWatchers) return following.add(id)
    left.push(id)
    return undefined
  }
  const raised = {
    ...(severity !== undefined && isMoreSevere(severity, state.severity) && { severity }),
    ...(assignmentGroup !== undefined && assignmentGroup !== state.assignmentGroup && { assignmentGroup }),
    ...(escalateTo !== undefined && follows(escalateTo) && { escalateTo }),
  }
  const steps: IncidentStep[] = []
  if (Object.keys(raised).length > 0) steps.push({ kind: 'escalate', ...raised, reason })
  if (assigneeId !== undefined && assigneeId !== state.assigneeId) steps.push({ kind: 'assign', assigneeId })
  const before = following.size
  for (const id of watcherIds) follows(id)
  if (following.size > before) steps.push({ kind: 'edit', fields: { watcherIds: [...following] } })
  return { steps, left }
}
