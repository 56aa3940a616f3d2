import type { IncidentState } from '@opsplane/contracts'
import { priorityBy } from '../settings/priority-by.js'
import type { PatchIncident } from './commands.js'

export type Prioritized = Partial<Pick<IncidentState, 'priority' | 'priorityOverride'>>

/**
 * What a PATCH makes of the priority. It stays as it is unless impact, urgency or the override change, whatever the
 * matrix says by now; an override stays when impact or urgency change.
 */
export function prioritized({ patch, by, now, settings }: PatchIncident, state: IncidentState): Prioritized {
  const { impact = state.impact, urgency = state.urgency, priorityOverride: wanted } = patch
  const before = state.priorityOverride
  if (wanted) {
    const kept = before?.priority === wanted.priority && before.reason === wanted.reason
    return kept ? {} : { priority: wanted.priority, priorityOverride: { ...wanted, by, at: now } }
  }
  if (before !== null && wanted === undefined) return {}
  if (before === null && impact === state.impact && urgency === state.urgency) return {}
  return { priority: priorityBy(settings.priorityMatrix, { impact, urgency }), priorityOverride: null }
}
