import type { ErrorCode } from '@opsplane/contracts'

/** What any command to a record with states can be refused with. */
export const transitionErrors: ErrorCode[] = [
  'not_found',
  'invalid_state_transition',
  'precondition_failed',
  'version_conflict',
]
