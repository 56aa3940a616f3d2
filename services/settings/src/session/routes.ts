import { ApiError, Credentials, Session } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import { z } from 'zod'
import type { Login } from './login.js'
import { originOf, type Sessions } from './sessions.js'

const tag = 'Authentication'

/** Logging in and out. */
export function sessionRoutes(login: Login, sessions: Sessions): Route[] {
  return [
    defineRoute({
      operationId: 'createSession',
      method: 'post',
      path: '/auth/token',
      summary: 'Log in',
      description:
        'Exchanges e-mail and password for a session token, which ends when it lies idle, at `expiresAt`, or at ' +
        'logout. An unknown e-mail and a wrong password are answered alike. After several failures each next one ' +
        'must wait longer: 429 with Retry-After.',
      tag,
      scope: 'public',
      body: Credentials,
      response: Session,
      status: 201,
      errors: ['invalid_credentials', 'rate_limited'],
      idempotency: 'none',
      handler: ({ body, meta }) => login(body, originOf(meta), meta.now),
    }),

    defineRoute({
      operationId: 'endSession',
      method: 'post',
      path: '/auth/logout',
      summary: 'Log out',
      description: 'Ends the session this request is made with. API keys are revoked instead.',
      tag,
      scope: 'authenticated',
      workspace: 'none',
      response: z.void(),
      status: 204,
      errors: ['forbidden'],
      idempotency: 'none',
      handler: async ({ meta: { principal } }) => {
        if (!principal.tokenId.startsWith('ses_')) {
          throw new ApiError('forbidden', 'An API key has no session to end; revoke the key instead.')
        }
        await sessions.end(principal.tokenId)
      },
    }),
  ]
}
