import type { BrowserSignIn, Session } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { AnswerSignIn } from '../factor/answer-sign-in.js'
import type { AcceptInvitation } from '../membership/acceptance.js'
import type { Login } from '../session/login.js'
import { toSessionOrigin } from '../session/sessions.js'
import type { createResetSignIn } from './password-reset.js'

export interface BrowserSignInOptions {
  login: Login
  accept: AcceptInvitation
  answer: AnswerSignIn
  signInByReset: ReturnType<typeof createResetSignIn>
}

/**
 * Signs a browser in with credentials, an invitation, a reset token, or the answer to a challenge. Throws the errors
 * of each.
 */
export const createBrowserSignIn =
  ({ login, accept, answer, signInByReset }: BrowserSignInOptions) =>
  async (body: BrowserSignIn, meta: RequestMeta): Promise<Session> => {
    const at = { now: meta.now, kind: 'web' as const }
    if ('token' in body) return accept(body, meta, 'web')
    if ('resetToken' in body) return signInByReset(body, meta)
    return 'challenge' in body
      ? answer(body, toSessionOrigin(meta), at)
      : login(body, toSessionOrigin(meta), at)
  }
