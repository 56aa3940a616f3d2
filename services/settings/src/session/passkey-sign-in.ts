import { randomBytes } from 'node:crypto'
import { ApiError, type FactorAssertion, type Instant, type PasskeyChallenge } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { type CursorCodec, sha256Hex } from '@opsplane/runtime'
import { z } from 'zod'
import type { AccountState } from '../account/domain.js'
import { storedAccount } from '../account/queries.js'
import { challengeMs } from '../factor/challenges.js'
import { invalidChallenge } from '../factor/factors.js'
import type { Proofs } from '../factor/proof.js'
import { type RelyingParty, requireRelyingParty } from '../factor/relying-party.js'
import { passkeyRequest } from '../factor/webauthn.js'
import { takeOnce } from '../taken-calls.js'
import { occasionOf, type SessionOrigin } from './sessions.js'
import type { Throttle } from './throttle.js'

export interface PasskeySignInOptions {
  database: Pick<Database, 'db' | 'sql'>
  cursors: CursorCodec
  proofs: Proofs
  throttle: Throttle
  party: RelyingParty | { reason: string }
}

export type PasskeySignIn = ReturnType<typeof createPasskeySignIn>

const binding = 'sign-in by a passkey'
const Content = z.tuple([z.string(), z.number()])
const nonceBytes = 32

/**
 * Sign-in by a passkey alone, which says whose it is. Anybody may ask for a challenge, so that none is kept: it is signed, and only
 * one that was used is remembered until it ends.
 */
export function createPasskeySignIn(options: PasskeySignInOptions) {
  const { database, cursors, proofs, throttle, party } = options

  const contentOf = (challenge: string) => {
    try {
      const [nonce, endsAtMs] = Content.parse(cursors.decode(challenge, binding))
      return { nonce, endsAtMs }
    } catch {
      return null
    }
  }

  return {
    /** Throws `conflict` where passkeys are off. */
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

    /** Whether a challenge was made here. */
    isOwn: (challenge: string): boolean => contentOf(challenge) !== null,

    /** Whose passkey has signed it. Throws `invalid_token`, `invalid_credentials`, `rate_limited`. */
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
        occasionOf(await storedAccount(database.db, id), origin, now),
      )
      if (!proof?.userVerified) throw unprovenPasskey()
      if (!(await takeOnce(database, `passkey ${challengeHash}`, challengeMs))) throw invalidChallenge()
      await throttle.succeeded(attempt, now)
      return storedAccount(database.db, proof.accountId)
    },
  }
}

const unprovenPasskey = () =>
  new ApiError(
    'invalid_credentials',
    'The passkey is of no login here, or has not verified its person. Sign in with the password, and answer with it then.',
  )
