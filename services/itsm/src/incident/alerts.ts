import { type IncidentState, type IncidentStatus, type Instant, invalidTransition } from '@opsplane/contracts'
import type { CountAlert } from './commands.js'
import { allowedActions } from './transitions.js'

/** Statuses in which an incident counts further alerts with its dedup key. */
const acceptingStatuses: readonly IncidentStatus[] = ['open', 'in_progress', 'on_hold']

export const acceptsAlerts = ({ status }: IncidentState): boolean => acceptingStatuses.includes(status)

/** Alert fields of a new incident. The alert that opens it is the first one. */
export function alertFields(
  dedupKey: string | undefined,
  now: Instant,
): Pick<IncidentState, 'dedupKey' | 'alertCount' | 'lastAlertAt'> {
  if (dedupKey === undefined) return { dedupKey: null, alertCount: 0, lastAlertAt: null }
  return { dedupKey, alertCount: 1, lastAlertAt: now }
}

/** Counts one more alert. Throws invalid_state_transition once work on the incident has ended. */
export function recordAlert({ now }: CountAlert, state: IncidentState): Partial<IncidentState> {
  if (!acceptsAlerts(state)) throw invalidTransition('alert', state.status, allowedActions(state.status))
  return { alertCount: state.alertCount + 1, lastAlertAt: now }
}
