import type { IncidentComment, IncidentState } from '@opsplane/contracts'
import type { IncidentStep } from '../steps.js'

type CallerOfIncident = Pick<IncidentState, 'callerId'>

/** Whether the incident's caller wrote the comment, possibly through one of their API keys. */
export function isCallerComment(
  { author, userId }: IncidentComment,
  { callerId }: CallerOfIncident,
): boolean {
  return callerId !== null && (userId === callerId || author.id === callerId)
}

const ends: readonly IncidentStep['kind'][] = ['resolve', 'reopen', 'close', 'cancel']

/** Returns the cause `caller` if the incident's caller ends or reopens it. */
export function findCause(
  userId: string | undefined,
  kind: IncidentStep['kind'],
  { callerId }: CallerOfIncident,
) {
  return userId !== undefined && userId === callerId && ends.includes(kind) ? ('caller' as const) : undefined
}
