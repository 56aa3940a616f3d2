import {
  SsoChoices,
  SsoLocation,
  SsoLogout,
  SsoQuery,
  SsoStart,
  ssoCallback,
  ssoStart,
} from '@opsplane/contracts'
import { defineRaw, defineRoute, type RawAnswer, type RawRequest, type Route } from '@opsplane/http'
import type { Drizzle } from '@opsplane/postgres'
import { clearSessionCookie, setSessionCookie } from '../session/session-cookie.js'
import type { SsoLogouts } from './logout.js'
import { listSignInProviders } from './queries.js'
import type { SsoSignIn } from './sign-in.js'
import { clearSsoCookie, readSsoCookie, setSsoCookie } from './sso-cookie.js'

const tag = 'Single sign-on'

export interface SsoRouteOptions {
  db: Drizzle
  signIn: SsoSignIn
  logouts: SsoLogouts
}

/** Routes for sign-in with an identity provider, and for logout. */
export function signInRoutes({ db, signIn, logouts }: SsoRouteOptions): Route[] {
  return [
    defineRoute({
      operationId: 'listSignInProviders',
      method: 'get',
      path: '/auth/sso',
      summary: 'List the identity providers of a workspace',
      description:
        'Returns the providers by name, for a choice before the sign-in. The list is empty for an unknown workspace.',
      tag,
      scope: 'public',
      query: SsoQuery,
      response: SsoChoices,
      handler: async ({ query }) => ({ providers: await listSignInProviders(db, query.workspace ?? '') }),
    }),

    defineRoute({
      operationId: ssoStart,
      method: 'post',
      path: '/auth/sso/start',
      summary: 'Start a sign-in with an identity provider',
      description:
        'Returns the URL to which to redirect the browser, and sets a cookie for the ten minutes that the sign-in ' +
        'may last. The browser returns to `returnTo` with a session cookie, or with `#error=…&message=…`. Accepted ' +
        'only from pages of the same origin, like `POST /auth/session`.',
      tag,
      scope: 'public',
      waits: true,
      body: SsoStart,
      response: SsoLocation,
      errors: ['not_found', 'conflict', 'forbidden'],
      idempotency: 'none',
      handler: async ({ body, meta }) => {
        const { location, cookie } = await signIn.start(body, meta)
        setSsoCookie(meta, cookie)
        return { location }
      },
    }),

    defineRaw({
      operationId: ssoCallback,
      method: 'get',
      path: '/auth/sso/:providerId/callback',
      summary: 'Finish a sign-in with an identity provider',
      description:
        'The provider redirects the browser to this operation, which redirects it to the page that started the ' +
        'sign-in.',
      isDocumented: false,
      tag,
      scope: 'public',
      mediaTypes: ['text/plain'],
      errors: ['invalid_token', 'not_found', 'conflict'],
      handler: async ({ params, request, meta }) => {
        const callback = { answer: toSearchParams(request), sealed: readSsoCookie(meta) }
        const { location, session } = await signIn.finish(params.providerId, callback, meta)
        clearSsoCookie(meta)
        if (session) setSessionCookie(meta, { token: session.accessToken, expiresAt: session.expiresAt })
        return { status: 303, headers: { location }, body: null }
      },
    }),

    defineRoute({
      operationId: 'endSsoSession',
      method: 'post',
      path: '/auth/sso/logout',
      summary: 'Log out, including at the identity provider',
      description:
        'Ends the session of this request like `POST /auth/logout`, and returns the URL to which to redirect the ' +
        'browser to log out at the identity provider of the session. Emits `session.ended`.',
      tag,
      scope: 'authenticated',
      workspace: 'none',
      ofSession: true,
      response: SsoLogout,
      errors: ['forbidden'],
      idempotency: 'none',
      handler: async ({ meta }) => {
        const result = await logouts.logout(meta)
        clearSessionCookie(meta)
        return result
      },
    }),

    defineRaw({
      operationId: 'endSessionsByProvider',
      method: 'post',
      path: '/auth/sso/:providerId/backchannel-logout',
      summary: 'Report a logout at the identity provider',
      description:
        'Back-channel logout of OpenID Connect, with the form field `logout_token`. A refused token returns 400 with ' +
        '`error`, as in the standard. Emits `session.ended`.',
      isDocumented: false,
      tag,
      scope: 'public',
      mediaTypes: ['application/json'],
      handler: async ({ params, request, meta }) => {
        const token = new URLSearchParams(request.body.toString()).get('logout_token') ?? ''
        const refusal = await logouts.loggedOut(params.providerId, token, meta)
        return refusal === null ? { status: 204, headers: {}, body: null } : refusedLogout(refusal)
      },
    }),
  ]
}

/** Uses the error format of OAuth 2.0, which providers log. */
const refusedLogout = (reason: string): RawAnswer => ({
  status: 400,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ error: 'invalid_request', error_description: reason }),
})

/** The unmodified query of the redirect; the client library rejects duplicate parameters. */
function toSearchParams({ query }: RawRequest): URLSearchParams {
  const answer = new URLSearchParams()
  for (const [name, values] of Object.entries(query))
    for (const value of [values].flat()) answer.append(name, value)
  return answer
}
