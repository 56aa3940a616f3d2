import type { IncidentPatch, IncidentState } from '@opsplane/contracts'
import { findPriority } from '../settings/priority-matrix.js'
import type { PatchIncident } from './commands.js'
import { levelsForSeverity } from './escalate-levels.js'

export type PriorityChange = Partial<Pick<IncidentState, 'priority' | 'priorityOverride'>> &
  Pick<IncidentPatch, 'impact' | 'urgency'>

/**
 * What a PATCH of impact, urgency or the override makes of the priority; a higher severity in the same PATCH raises what
 * it does not give. It stays as it is unless these change, whatever the matrix says by now; an override stays when impact
 * or urgency change. Without any of them the severity alone decides: see `raisedWith`.
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
