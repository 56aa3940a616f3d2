import { ApiError, type FactorChallenge, type Instant } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { RequireFactor } from '../session/sign-in.js'
import type { ChallengeSubject, Challenges } from './challenges.js'
import { countRecoveryCodes, listFactorMethods, listFactors } from './queries.js'
import type { RelyingParty } from './relying-party.js'
import { passkeyRequest } from './webauthn.js'

/** Issues a challenge to prove a factor of the login; `null` if the login has none. */
export type ChallengeLogin = (subject: ChallengeSubject, now: Instant) => Promise<FactorChallenge | null>

export interface FactorChallengeOptions {
  db: Drizzle
  challenges: Challenges
  party: RelyingParty | { reason: string }
}

export function createChallengeLogin({ db, challenges, party }: FactorChallengeOptions): ChallengeLogin {
  return async (subject, now) => {
    const factors = await listFactors(db, subject.accountId)
    if (factors.length === 0) return null
    const left = await countRecoveryCodes(db, subject.accountId)
    const methods = listFactorMethods(factors, left, !('reason' in party))
    const { token: challenge, secretHash, expiresAt } = await challenges.issue(subject, now)
    const passkeys = factors.flatMap(({ credentialId, transports }) =>
      credentialId === null ? [] : [{ credentialId, transports: transports ?? [] }],
    )
    const passkey =
      'reason' in party || passkeys.length === 0 ? null : passkeyRequest(party, secretHash, passkeys)
    return { challenge, expiresAt, methods, passkey }
  }
}

/** Requires a factor in a sign-in. The challenge stores the methods proved before. */
export const createRequireFactor =
  (challengeLogin: ChallengeLogin): RequireFactor =>
  async ({ account: { id: accountId, passwordHash }, methods, providerId, workspaceId }, now) => {
    const subject = { accountId, passwordHash, methods, providerId, workspaceId }
    const challenge = await challengeLogin({ purpose: 'sign_in', ...subject }, now)
    if (challenge !== null) throw factorRequiredError(challenge)
  }

export function factorRequiredError(challenge: FactorChallenge): ApiError {
  const message = 'The login has a second factor. Answer the challenge in `details` with it.'
  return new ApiError('factor_required', message, {
    details: [{ in: 'body', path: '', code: 'factor_required', message, params: { ...challenge } }],
  })
}
