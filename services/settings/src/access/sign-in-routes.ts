import {
  BrowserSession,
  BrowserSignIn,
  browserSignIn,
  LogIn,
  PasskeyChallenge,
  Session,
} from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { AnswerSignIn } from '../factor/answer-sign-in.js'
import type { PasskeySignIn } from '../factor/passkey-sign-in.js'
import type { Login } from '../session/login.js'
import { setSessionCookie } from '../session/session-cookie.js'
import { toSessionOrigin } from '../session/sessions.js'
import type { createBrowserSignIn } from './browser-sign-in.js'

const tag = 'Authentication'

export interface SignInRouteOptions {
  login: Login
  answer: AnswerSignIn
  passkeySignIn: PasskeySignIn
  signIn: ReturnType<typeof createBrowserSignIn>
}

/** Routes that create a session. */
export function signInRoutes({ login, answer, passkeySignIn, signIn }: SignInRouteOptions): Route[] {
  return [
    defineRoute({
      operationId: 'createSession',
      method: 'post',
      path: '/auth/token',
      summary: 'Log in',
      description:
        'Exchanges e-mail and password for a session token, which ends when it is idle, at `expiresAt`, or at ' +
        'logout. A login with a second factor is answered `factor_required`, whose details have a challenge: its answer is ' +
        'sent here as well, within five minutes and five attempts. An unknown e-mail and a wrong password get the same answer. After several failures each further attempt ' +
        'must wait longer: 429 with Retry-After. Emits `session.started`, and `login.failed` at most once a minute.',
      tag,
      scope: 'public',
      body: LogIn,
      response: Session,
      status: 201,
      errors: ['invalid_credentials', 'factor_required', 'invalid_token'],
      idempotency: 'none',
      handler: ({ body, meta }) => {
        const at = { now: meta.now, kind: 'ses' as const }
        return 'email' in body
          ? login(body, toSessionOrigin(meta), at)
          : answer(body, toSessionOrigin(meta), at)
      },
    }),

    defineRoute({
      operationId: 'beginPasskeySignIn',
      method: 'post',
      path: '/auth/passkey/options',
      summary: 'Start a sign-in with a passkey',
      description:
        'Returns the options for `navigator.credentials.get()`, without a user name: the passkey identifies the login. Send its answer to ' +
        '`POST /auth/session`. 409 (`passkeys_unavailable`) where passkeys are off.',
      tag,
      scope: 'public',
      response: PasskeyChallenge,
      errors: ['conflict'],
      idempotency: 'none',
      handler: async ({ meta }) => passkeySignIn.begin(meta.now),
    }),

    defineRoute({
      operationId: browserSignIn,
      method: 'post',
      path: '/auth/session',
      summary: 'Sign in from a browser',
      description:
        'Accepts e-mail and password, an invitation as `POST /auth/invitations/accept` does, the token of a reset with a new password, or the answer to a challenge, and sets the session as a cookie ' +
        '(HttpOnly, SameSite=Strict), which no answer contains. It is accepted from pages of the origin it was set by: with ' +
        '`Sec-Fetch-Site: same-origin`, or, from a browser that sends none, with an equal `Origin`; a GET then has an ' +
        '`X-Requested-With` of any value. The same holds for this request. A cookie opens the API only, and `Authorization` goes ' +
        'before it. Without an origin of its own for apps (`APPS_ORIGIN`) it is refused, but for loopback. Throttled as `POST /auth/token` is. ' +
        'Emits `session.started`.',
      tag,
      scope: 'public',
      body: BrowserSignIn,
      response: BrowserSession,
      status: 201,
      errors: ['forbidden', 'invalid_credentials', 'factor_required', 'invalid_token'],
      idempotency: 'none',
      handler: async ({ body, meta }) => {
        const session = await signIn(body, meta)
        const { accessToken, tokenType: _, ...shown } = session
        setSessionCookie(meta, { token: accessToken, expiresAt: session.expiresAt })
        return shown
      },
    }),
  ]
}
