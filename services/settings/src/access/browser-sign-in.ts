import type { BrowserSignIn, Session } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { AnswerSignIn } from '../factor/answer-sign-in.js'
import type { AcceptInvitation } from '../membership/acceptance.js'
import type { Login } from '../session/login.js'
import { originOf } from '../session/sessions.js'

export interface BrowserSignInOptions {
  login: Login
  accept: AcceptInvitation
  answer: AnswerSignIn
}

/** By credentials, an invitation, or the answer to a challenge. Throws what each of them does. */
export const createBrowserSignIn =
  ({ login, accept, answer }: BrowserSignInOptions) =>
  async (body: BrowserSignIn, meta: RequestMeta): Promise<Session> => {
    const at = { now: meta.now, kind: 'web' as const }
    if ('token' in body) return accept(body, meta, 'web')
    return 'challenge' in body ? answer(body, originOf(meta), at) : login(body, originOf(meta), at)
  }
