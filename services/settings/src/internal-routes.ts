import {
  Bootstrap,
  Bootstrapped,
  ResolvedSecrets,
  SecretResolution,
  TokenVerification,
  VerifiedToken,
} from '@opsplane/contracts'
import { callingService, defineRoute, type Route } from '@opsplane/http'
import type { RunBootstrap } from './bootstrap.js'
import type { Safe } from './secret/safe.js'
import type { VerifyToken } from './token/verify.js'

const internal = { method: 'post', tag: 'Internal', scope: 'service', idempotency: 'none' } as const

/** What other services ask settings. The gateway routes none of it. */
export function internalRoutes(verify: VerifyToken, safe: Safe, bootstrap: RunBootstrap): Route[] {
  return [
    defineRoute({
      ...internal,
      operationId: 'verifyToken',
      path: '/internal/tokens/verify',
      callers: ['gateway'],
      summary: 'Find out who a token acts as',
      body: TokenVerification,
      response: VerifiedToken,
      errors: ['invalid_token', 'token_expired', 'workspace_forbidden', 'environment_forbidden'],
      handler: ({ body, meta }) => verify(body, meta),
    }),

    defineRoute({
      ...internal,
      operationId: 'resolveSecrets',
      path: '/internal/secrets/resolve',
      callers: ['dispatcher'],
      summary: 'Get the values of secrets',
      description: 'Counts as a use of each of them.',
      body: SecretResolution,
      response: ResolvedSecrets,
      handler: async ({ body, meta }) => ({
        values: await safe.resolve(body, { service: callingService(meta.principal), now: meta.now }),
      }),
    }),

    defineRoute({
      ...internal,
      operationId: 'bootstrap',
      path: '/internal/bootstrap',
      callers: ['operator'],
      summary: 'Create a workspace and its owner',
      body: Bootstrap,
      response: Bootstrapped,
      errors: ['conflict'],
      handler: ({ body, meta }) => bootstrap(body, meta),
    }),
  ]
}
