import { randomBytes } from 'node:crypto'
import { ApiError, type FactorAssertion, type Instant, type PasskeyChallenge } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { type CursorCodec, sha256Hex } from '@opsplane/runtime'
import { z } from 'zod'
import type { AccountState } from '../account/domain.js'
import { requireAccount } from '../account/queries.js'
import type { LoginFailureCount } from '../session/login-failures.js'
import { type SessionOrigin, toLoginContext } from '../session/sessions.js'
import type { Throttle } from '../session/throttle.js'
import { claimSingleUse } from '../single-use-calls.js'
import { challengeMs } from './challenges.js'
import { invalidChallenge } from './factors.js'
import type { Proofs } from './proofs.js'
import { findPasskey } from './queries.js'
import { type RelyingParty, requireRelyingParty } from './relying-party.js'
import { passkeyRequest } from './webauthn.js'

export interface PasskeySignInOptions {
  database: Pick<Database, 'db' | 'sql'>
  cursors: CursorCodec
  proofs: Proofs
  throttle: Throttle
  failures: LoginFailureCount
  party: RelyingParty | { reason: string }
}

export type PasskeySignIn = ReturnType<typeof createPasskeySignIn>

const binding = 'sign-in by a passkey'
const Content = z.tuple([z.string(), z.number()])
const nonceBytes = 32

/**
 * Sign-in with a passkey alone, which also identifies its login. Any client may request a challenge, so challenges
 * are signed instead of stored; only a used one is remembered until it expires.
 */
export function createPasskeySignIn(options: PasskeySignInOptions) {
  const { database, cursors, proofs, throttle, failures, party } = options

  const contentOf = (challenge: string) => {
    try {
      const [nonce, endsAtMs] = Content.parse(cursors.decode(challenge, binding))
      return { nonce, endsAtMs }
    } catch {
      return null
    }
  }

  /** Records a failed sign-in. An unknown passkey is not reported. */
  const noteFailed = async (credentialId: string, { address }: SessionOrigin, now: Instant) => {
    const factor = await findPasskey(database.db, credentialId)
    if (factor === null) return
    const { email } = await requireAccount(database.db, factor.accountId)
    failures.note(email, 'failed', { address, now })
  }

  return {
    /** Throws `conflict` if passkeys are disabled. */
    begin(now: Instant): PasskeyChallenge {
      const relyingParty = requireRelyingParty(party)
      const endsAtMs = Date.parse(now) + challengeMs
      const challenge = cursors.encode([randomBytes(nonceBytes).toString('base64url'), endsAtMs], binding)
      return {
        challenge,
        expiresAt: new Date(endsAtMs).toISOString(),
        publicKey: passkeyRequest(relyingParty, sha256Hex(challenge)),
      }
    },

    /** Whether this service issued the challenge. */
    isOwn: (challenge: string): boolean => contentOf(challenge) !== null,

    /** The owner of the passkey that signed the challenge. Throws `invalid_token`, `invalid_credentials`, `rate_limited`. */
    async identify(
      { challenge, assertion }: FactorAssertion,
      origin: SessionOrigin,
      now: Instant,
    ): Promise<AccountState> {
      const attempt = throttle.attempt(`passkey ${assertion.id}`, origin.address)
      await throttle.begin(attempt, now)
      const content = contentOf(challenge)
      if (content === null || content.endsAtMs <= Date.parse(now)) throw invalidChallenge()
      const challengeHash = sha256Hex(challenge)
      const proof = await proofs.byPasskey(assertion, challengeHash, async (id) =>
        toLoginContext(await requireAccount(database.db, id), origin, now),
      )
      if (!proof?.userVerified) {
        await noteFailed(assertion.id, origin, now)
        throw unprovenPasskey()
      }
      if (!(await claimSingleUse(database.sql, `passkey ${challengeHash}`, `${challengeMs} milliseconds`)))
        throw invalidChallenge()
      await throttle.succeeded(attempt, now)
      return requireAccount(database.db, proof.accountId)
    },
  }
}

const unprovenPasskey = () =>
  new ApiError(
    'invalid_credentials',
    'The passkey is of no login here, or has not verified its person. Sign in with the password, and answer with it then.',
  )
