import type { BrowserSignIn, Session } from '@opsplane/contracts'
import type { RequestMeta } from '@opsplane/http'
import type { ResetPassword } from '../account/password-reset.js'
import type { AcceptInvitation } from '../membership/acceptance.js'
import type { Login } from './login.js'
import { originOf } from './sessions.js'
import type { CompleteSignIn } from './sign-in.js'

export interface BrowserSignInOptions {
  login: Login
  accept: AcceptInvitation
  resetPassword: ResetPassword
  completeSignIn: CompleteSignIn
}

/** By credentials, an invitation, or the token of a reset. Throws what each of them does. */
export const createBrowserSignIn =
  ({ login, accept, resetPassword, completeSignIn }: BrowserSignInOptions) =>
  async (body: BrowserSignIn, meta: RequestMeta): Promise<Session> => {
    const at = { now: meta.now, kind: 'web' as const }
    if ('token' in body) return accept(body, meta, 'web')
    if (!('resetToken' in body)) return login(body, originOf(meta), at)
    const { resetToken: token, newPassword } = body
    return completeSignIn(await resetPassword({ token, newPassword }, meta), originOf(meta), at)
  }
