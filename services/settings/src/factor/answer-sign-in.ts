import type { FactorAnswer, Instant, Session } from '@opsplane/contracts'
import type { SessionKind, SessionOrigin } from '../session/sessions.js'
import type { CompleteSignIn } from '../session/sign-in.js'
import type { AnswerChallenge } from './answer-challenge.js'
import type { PasskeySignIn } from './passkey-sign-in.js'

/** Signs in with the answer to a challenge. Throws `invalid_token`, `invalid_credentials`, `rate_limited`. */
export type AnswerSignIn = (
  answer: FactorAnswer,
  origin: SessionOrigin,
  at: { now: Instant; kind: SessionKind },
) => Promise<Session>

export interface AnswerSignInOptions {
  answerChallenge: AnswerChallenge
  passkeySignIn: PasskeySignIn
  completeSignIn: CompleteSignIn
}

export function createAnswerSignIn(options: AnswerSignInOptions): AnswerSignIn {
  const { answerChallenge, passkeySignIn, completeSignIn } = options
  return async (answer, origin, at) => {
    if ('assertion' in answer && passkeySignIn.isOwn(answer.challenge)) {
      const account = await passkeySignIn.identify(answer, origin, at.now)
      return completeSignIn({ account, methods: ['passkey'] }, origin, at)
    }
    const answeredChallenge = await answerChallenge(answer, { purpose: 'sign_in' }, { origin, now: at.now })
    const { account, challenge, method } = answeredChallenge
    const { passwordHash, providerId, workspaceId } = challenge
    const proven = {
      // The hash of the proved password: if the password has changed since, no session is opened.
      account: { ...account, passwordHash },
      methods: [...challenge.methods, method],
      ...(providerId !== null && { providerId }),
      ...(workspaceId !== null && { workspaceId }),
    }
    return completeSignIn(proven, origin, at)
  }
}
