import { ApiError, type FactorAnswer, type Instant, type SignInMethod } from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { AccountState } from '../account/domain.js'
import { requireAccount } from '../account/queries.js'
import type { LoginFailureCount } from '../session/login-failures.js'
import { type SessionOrigin, toLoginContext } from '../session/sessions.js'
import type { Throttle } from '../session/throttle.js'
import type { Challenge, ChallengeSubject, Challenges } from './challenges.js'
import { invalidChallenge } from './factors.js'
import type { Proofs } from './proofs.js'

/** A challenge that was answered correctly; answering consumes it. */
export interface AnsweredChallenge {
  account: AccountState
  challenge: Challenge
  method: SignInMethod
}

/** Throws `invalid_token`, `invalid_credentials`, `rate_limited`. */
export type AnswerChallenge = (
  answer: FactorAnswer,
  subject: Pick<ChallengeSubject, 'purpose' | 'sessionId'>,
  from: { origin: SessionOrigin; now: Instant },
) => Promise<AnsweredChallenge>

export interface AnswerOptions {
  db: Drizzle
  challenges: Challenges
  proofs: Proofs
  throttle: Throttle
  failures: LoginFailureCount
}

/** Throttles wrong answers per login and network, like passwords. A challenge ends after a few wrong answers. */
export function createAnswerChallenge(options: AnswerOptions): AnswerChallenge {
  const { db, challenges, proofs, throttle, failures } = options
  return async (answer, subject, { origin, now }) => {
    const challenge = await challenges.find(answer.challenge, { ...subject, now })
    const account = challenge && (await requireAccount(db, challenge.accountId))
    const throttleKey = account === null ? `challenge ${answer.challenge}` : `factor ${account.email}`
    const attempt = throttle.attempt(throttleKey, origin.address)
    const note = (kind: 'failed' | 'refused') =>
      account && failures.note(account.email, kind, { address: origin.address, now })
    await throttle.begin(attempt, now).catch((error: unknown) => {
      note('refused')
      throw error
    })
    if (challenge === null || account === null || !(await challenges.count(challenge.id)))
      throw invalidChallenge()
    const method = await proofs.of(answer, challenge, toLoginContext(account, origin, now))
    if (method === null) {
      note('failed')
      throw new ApiError(
        'invalid_credentials',
        'The answer matches no factor of the login, or was used before.',
      )
    }
    if (!(await challenges.take(challenge.id))) throw invalidChallenge()
    await throttle.succeeded(attempt, now)
    return { account, challenge, method }
  }
}
