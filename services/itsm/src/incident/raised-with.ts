import {
  type IncidentState,
  type Level,
  levels,
  levelsBySeverity,
  type PriorityMatrix,
  type Severity,
  severities,
} from '@opsplane/contracts'
import { priorityBy } from '../settings/priority-by.js'

/** Whether `left` is the graver severity. */
export function graver(left: Severity, right: Severity): boolean {
  return severities.indexOf(left) < severities.indexOf(right)
}

/** Impact and urgency with a severity: where it is graver than before, at least what it comes with at creation. */
export function levelsWith(
  severity: Severity,
  state: Pick<IncidentState, 'severity' | 'impact' | 'urgency'>,
): Pick<IncidentState, 'impact' | 'urgency'> {
  const { impact, urgency } = state
  if (!graver(severity, state.severity)) return { impact, urgency }
  const usual = levelsBySeverity[severity]
  return { impact: higher(usual.impact, impact), urgency: higher(usual.urgency, urgency) }
}

/** What a graver severity makes of impact, urgency and priority; nothing where somebody has set the priority by hand. */
export function raisedWith(
  severity: Severity,
  matrix: PriorityMatrix,
  state: IncidentState,
): Partial<Pick<IncidentState, 'impact' | 'urgency' | 'priority'>> {
  if (state.priorityOverride !== null) return {}
  const raised = levelsWith(severity, state)
  if (raised.impact === state.impact && raised.urgency === state.urgency) return {}
  return { ...raised, priority: priorityBy(matrix, raised) }
}

const higher = (left: Level, right: Level): Level =>
  levels.indexOf(left) < levels.indexOf(right) ? left : right
