import type { IncidentPatch, IncidentState } from '@opsplane/contracts'
import { findPriority } from '../settings/priority-matrix.js'
import type { PatchIncident } from './commands.js'
import { levelsForSeverity } from './escalate-levels.js'

export type PriorityChange = Partial<Pick<IncidentState, 'priority' | 'priorityOverride'>> &
  Pick<IncidentPatch, 'impact' | 'urgency'>

/**
 * Computes the priority after a PATCH of impact, urgency or the override. A higher severity
 * in the same PATCH raises the levels that it does not give. If none of the three is given,
 * the priority is unchanged here, even if the matrix has changed since; a higher severity
 * alone raises it in `escalateLevels`. An override stays when impact or urgency change.
 */
export function computePriority(
  { patch, by, now, settings }: PatchIncident,
  state: IncidentState,
): PriorityChange {
  if (patch.impact === undefined && patch.urgency === undefined && patch.priorityOverride === undefined)
    return {}
  const raised = levelsForSeverity(patch.severity ?? state.severity, state)
  const { impact = raised.impact, urgency = raised.urgency, priorityOverride: wanted } = patch
  const before = state.priorityOverride
  if (wanted) {
    const kept = before?.priority === wanted.priority && before.reason === wanted.reason
    return kept ? {} : { priority: wanted.priority, priorityOverride: { ...wanted, by, at: now } }
  }
  if (before !== null && wanted === undefined) return {}
  if (before === null && impact === state.impact && urgency === state.urgency) return {}
  return {
    ...{ impact, urgency, priorityOverride: null },
    priority: findPriority(settings.priorityMatrix, { impact, urgency }),
  }
}
