import { ApiError } from '@opsplane/contracts'
import { provesFactor } from './methods.js'
import type { Sessions } from './sessions.js'

/** For changes that would require a second factor of sessions. Throws `factor_enrolment_required` for a session that would be refused afterwards. */
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
