import type { IncidentComment, IncidentState } from '@opsplane/contracts'
import type { IncidentStep } from '../steps.js'

type CallerOfIncident = Pick<IncidentState, 'callerId'>

/** Whether the caller said it, also through an API key of theirs. */
export function isCallerComment(
  { author, userId }: IncidentComment,
  { callerId }: CallerOfIncident,
): boolean {
  return callerId !== null && (userId === callerId || author.id === callerId)
}

const ends: readonly IncidentStep['kind'][] = ['resolve', 'reopen', 'close', 'cancel']

/** Where the caller decides whether their incident is over, it is their word that has done it. */
export function findCause(
  userId: string | undefined,
  kind: IncidentStep['kind'],
  { callerId }: CallerOfIncident,
) {
  return userId !== undefined && userId === callerId && ends.includes(kind) ? ('caller' as const) : undefined
}
