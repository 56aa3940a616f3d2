import {
  type IncidentPatch,
  type IncidentState,
  type IncidentStatus,
  invalidField,
} from '@opsplane/contracts'

/** Throws validation_failed if the hold reason or comment does not fit the status that the incident ends in. */
export function checkHoldReason(
  patch: IncidentPatch,
  end: IncidentStatus,
  { holdReason }: IncidentState,
): void {
  if (patch.holdReason !== undefined && end !== 'on_hold')
    throw invalidField('/holdReason', 'not_on_hold', 'A hold reason goes with status on_hold only.')
  if (patch.comment !== undefined && patch.holdReason === undefined)
    throw invalidField(
      '/holdReason',
      'required',
      'A comment here goes with a holdReason; others are added by /comments.',
    )
  const startsAwaitingCaller = patch.holdReason === 'awaiting_caller' && holdReason !== 'awaiting_caller'
  if (startsAwaitingCaller && patch.comment === undefined)
    throw invalidField('/comment', 'required', 'Waiting for the caller needs a comment that says for what.')
}
