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

/** Percent of the goal at which it is breached. */
export const breachPercent = 100

type EscalatingPolicy = Pick<SlaPolicyState, 'entityType' | 'warnings' | 'escalations'>

/** Throws validation_failed for a rule that would never be carried out, or have nothing to do. */
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

/** The rules for when a clock of the policy has used up so much of its goal. */
export const rulesAt = ({ escalations }: Pick<SlaPolicyState, 'escalations'>, percent: number) =>
  escalations.filter(({ atPercent }) => atPercent === percent)

/** A threshold as the log of a clock tells of it, and the policy the clock was pinned to then. */
export interface Firing {
  eventId: string
  version: number
  percent: number
  timer: SlaTimer
  policy: SlaPolicyState
}

/**
 * Of all thresholds a clock has reported, those after a version of it whose rules are to be carried out. Once in its life, or
 * in each span of what comes again: under another goal it can come to the same percent again, and a level that was called
 * need not be called again.
 */
export function dueFirings(firings: readonly Firing[], after: number): Firing[] {
  const reached = new Set<string>()
  return firings.filter(({ percent, policy, version, timer }) => {
    const once = `${timer.startedAt} ${percent}`
    if (reached.has(once) || rulesAt(policy, percent).length === 0) return false
    reached.add(once)
    return version > after
  })
}

export const toReachedThreshold = ({ timer, percent }: Firing): ReachedThreshold => ({
  timerId: timer.id,
  policyId: timer.policyId,
  policyName: timer.policyName,
  percent,
})

/** Why the incident is escalated, in words. */
export function formatReason({ timer: { policyName, metric }, percent }: Firing): string {
  const what = metric.replaceAll('_', ' ')
  return percent === breachPercent
    ? `SLA ${policyName}: the goal for its ${what} was missed.`
    : `SLA ${policyName}: ${percent} % of the time for its ${what} is used up.`
}

/** What a rule makes of an incident: only what it has not come to yet, and `left` who cannot follow it any more. */
export interface StepPlan {
  steps: IncidentStep[]
  left: string[]
}

/** The steps of one rule, in the order of a PATCH. */
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
