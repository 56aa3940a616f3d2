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
        'Exchanges an e-mail address and password for a session token. The session ends when it is idle, at ' +
        '`expiresAt`, or at logout. For a login with a second factor, returns `factor_required`, with a challenge in ' +
        'its details: send the answer to the challenge to this operation as well, within five minutes and five ' +
        'attempts. An unknown e-mail address and a wrong password return the same response. After several failures, ' +
        'each further attempt must wait longer: returns 429 with Retry-After. Emits `session.started`, and ' +
        '`login.failed` at most once a minute.',
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
        'Returns the options for `navigator.credentials.get()`, without a user name: the passkey identifies the ' +
        'login. Send the resulting credential to `POST /auth/session`. Returns 409 (`passkeys_unavailable`) if ' +
        'passkeys are disabled.',
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
        'Accepts an e-mail address and password, an invitation like `POST /auth/invitations/accept`, the token of a ' +
        'reset with a new password, or the answer to a challenge. Sets the session as a cookie (HttpOnly, ' +
        'SameSite=Strict) that no response body contains. The cookie is accepted only from pages of the origin that ' +
        'set it: with `Sec-Fetch-Site: same-origin`; from a browser that does not send that header, with an equal ' +
        '`Origin`, or for a GET without an origin header, with an `X-Requested-With` header of any value. The same ' +
        'applies to this request. The cookie authorizes API requests only, and `Authorization` takes precedence over ' +
        'it. Signing in with a cookie is refused if apps have no origin of their own (`APPS_ORIGIN`), except on ' +
        'loopback. Throttled like `POST /auth/token`. Emits `session.started`.',
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
