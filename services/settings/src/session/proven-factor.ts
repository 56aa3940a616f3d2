import { ApiError } from '@opsplane/contracts'
import { provesFactor } from './methods.js'
import type { Sessions } from './sessions.js'

/**
 * Guards changes that make sessions require a second factor. Throws `factor_enrolment_required` if the caller's own
 * session would be rejected afterwards.
 */
export async function requireProvenFactor(
  sessions: Pick<Sessions, 'proofOf'>,
  sessionId: string,
): Promise<void> {
  const session = await sessions.proofOf(sessionId)
  if (provesFactor(session?.methods ?? [])) return
  throw new ApiError(
    'factor_enrolment_required',
    'You would lock yourself out: this session has proved no second factor. Add one by POST /auth/factors/totp or a passkey first.',
  )
}
