import {
  type EscalationCause,
  type IncidentState,
  invalidField,
  type Severity,
  severities,
} from '@opsplane/contracts'
import { escalateLevels, isMoreSevere } from './escalate-levels.js'
import type { IncidentStep } from './steps.js'
import { updateWatchers } from './watchers.js'

type EscalationInput = Omit<Extract<IncidentStep, { kind: 'escalate' }>, 'kind'>

/**
 * Raises the severity, reassigns the incident to another team (functional escalation), adds a higher-ranking person as
 * a watcher (hierarchical escalation), or several of these. If none is given, raises the severity by one step. Throws
 * validation_failed if the severity would be lowered or nothing would change.
 */
export function escalate({ escalateTo, priorityMatrix, ...wanted }: EscalationInput, state: IncidentState) {
  const assignmentGroup = wanted.assignmentGroup ?? state.assignmentGroup
  const escalationTarget = wanted.assignmentGroup ?? escalateTo
  const severity = wanted.severity ?? (escalationTarget === undefined ? nextSeverity(state) : state.severity)
  if (isMoreSevere(state.severity, severity)) throw notRaised(state)
  const causes: EscalationCause[] = []
  if (severity !== state.severity) causes.push('severity_raised')
  if (assignmentGroup !== state.assignmentGroup) causes.push('group_reassigned')
  if (escalateTo !== undefined) causes.push('raised_to_person')
  if (causes.length === 0) throw wanted.assignmentGroup === undefined ? notRaised(state) : sameGroup()
  const level = state.escalationLevel + 1
  const follower =
    escalateTo === undefined ? null : updateWatchers({ userId: escalateTo, watching: true }, state)
  return {
    type: 'incident.escalated' as const,
    changes: {
      ...{ severity, assignmentGroup, escalationLevel: level, ...follower },
      ...(priorityMatrix && escalateLevels(severity, priorityMatrix, state)),
    },
    extras: { causes, reason: wanted.reason ?? null, level, escalatedTo: escalateTo ?? null },
  }
}

function nextSeverity({ severity }: IncidentState): Severity {
  return severities[severities.indexOf(severity) - 1] ?? severity
}

const notRaised = ({ severity }: IncidentState) =>
  invalidField(
    '/severity',
    'not_raised',
    severity === 'critical'
      ? 'The severity is already critical. To escalate further, give another assignmentGroup or escalateTo.'
      : `Escalating needs a severity above ${severity}. To lower it, use PATCH.`,
  )

const sameGroup = () =>
  invalidField('/assignmentGroup', 'not_reassigned', 'The incident is already assigned to this team.')
