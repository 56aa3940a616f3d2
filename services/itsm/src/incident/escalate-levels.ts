import {
  type IncidentState,
  type Level,
  levels,
  levelsBySeverity,
  type PriorityMatrix,
  type Severity,
  severities,
} from '@opsplane/contracts'
import { findPriority } from '../settings/priority-matrix.js'

/** Whether `left` is more severe than `right`. */
export function isMoreSevere(left: Severity, right: Severity): boolean {
  return severities.indexOf(left) < severities.indexOf(right)
}

/**
 * Returns impact and urgency for a severity. A raised severity raises both to at least the defaults for that
 * severity.
 */
export function levelsForSeverity(
  severity: Severity,
  state: Pick<IncidentState, 'severity' | 'impact' | 'urgency'>,
): Pick<IncidentState, 'impact' | 'urgency'> {
  const { impact, urgency } = state
  if (!isMoreSevere(severity, state.severity)) return { impact, urgency }
  const usual = levelsBySeverity[severity]
  return { impact: higherLevel(usual.impact, impact), urgency: higherLevel(usual.urgency, urgency) }
}

/** Returns impact, urgency and priority for a raised severity; nothing if the priority is overridden. */
export function escalateLevels(
  severity: Severity,
  matrix: PriorityMatrix,
  state: IncidentState,
): Partial<Pick<IncidentState, 'impact' | 'urgency' | 'priority'>> {
  if (state.priorityOverride !== null) return {}
  const raised = levelsForSeverity(severity, state)
  if (raised.impact === state.impact && raised.urgency === state.urgency) return {}
  return { ...raised, priority: findPriority(matrix, raised) }
}

const higherLevel = (left: Level, right: Level): Level =>
  levels.indexOf(left) < levels.indexOf(right) ? left : right
