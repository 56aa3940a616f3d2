import {
  type EscalateIncident,
  type EscalationCause,
  type IncidentState,
  invalidField,
  type Severity,
  severities,
} from '@opsplane/contracts'

/** Whether `left` is the graver severity. */
export function graver(left: Severity, right: Severity): boolean {
  return severities.indexOf(left) < severities.indexOf(right)
}

/**
 * Raises the severity, hands the incident to another team, or both. With neither asked for, the severity goes
 * up one step. Throws validation_failed when the severity would fall, or when nothing would change.
 */
export function escalated(wanted: EscalateIncident, state: IncidentState) {
  const assignmentGroup = wanted.assignmentGroup ?? state.assignmentGroup
  const severity =
    wanted.severity ?? (wanted.assignmentGroup === undefined ? nextGraver(state) : state.severity)
  if (graver(state.severity, severity)) throw notRaised(state)
  const causes: EscalationCause[] = []
  if (severity !== state.severity) causes.push('severity_raised')
  if (assignmentGroup !== state.assignmentGroup) causes.push('group_reassigned')
  if (causes.length === 0) throw wanted.assignmentGroup === undefined ? notRaised(state) : sameGroup()
  return {
    type: 'incident.escalated' as const,
    changes: { severity, assignmentGroup, escalationLevel: state.escalationLevel + 1 },
    extras: { causes, reason: wanted.reason ?? null },
  }
}

function nextGraver({ severity }: IncidentState): Severity {
  return severities[severities.indexOf(severity) - 1] ?? severity
}

const notRaised = ({ severity }: IncidentState) =>
  invalidField(
    '/severity',
    'not_raised',
    severity === 'critical'
      ? 'The severity is critical already; name another assignmentGroup to escalate further.'
      : `Escalating needs a severity above ${severity}. To lower it, use PATCH.`,
  )

const sameGroup = () =>
  invalidField('/assignmentGroup', 'not_reassigned', 'The incident lies with this team already.')
