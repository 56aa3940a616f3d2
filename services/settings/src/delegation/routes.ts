import {
  DelegatedToken,
  DelegationRequest,
  Grant,
  GrantRequest,
  GrantRevocation,
  GrantsQuery,
  GrantValidity,
  type InternalParty,
} from '@opsplane/contracts'
import { callingService, defineRoute, type Route } from '@opsplane/http'
import type { Delegations } from './delegations.js'

const internal = { method: 'post', tag: 'Internal', scope: 'service', idempotency: 'none' } as const

/** Returns no routes if no service may act for users. */
export function delegationRoutes(delegations: Delegations, callers: readonly InternalParty[]): Route[] {
  if (callers.length === 0) return []
  return [
    defineRoute({
      ...internal,
      callers,
      operationId: 'grantDelegation',
      path: '/internal/grants',
      summary: 'Create a grant to act on behalf of the requesting user',
      body: GrantRequest,
      response: Grant,
      errors: ['forbidden', 'environment_forbidden', 'invalid_token', 'token_expired'],
      handler: ({ body, meta }) => delegations.grant(body, callingService(meta.principal)),
    }),

    defineRoute({
      ...internal,
      callers,
      operationId: 'createDelegatedToken',
      path: '/internal/delegations',
      summary: 'Get the principal of a grant with current permissions',
      body: DelegationRequest,
      response: DelegatedToken,
      errors: ['forbidden', 'invalid_token', 'token_expired', 'workspace_forbidden'],
      handler: ({ body, meta }) => delegations.token(body, callingService(meta.principal)),
    }),

    defineRoute({
      ...internal,
      callers,
      operationId: 'findHoldingGrants',
      path: '/internal/grants/holding',
      summary: 'List the valid grants of the calling service',
      body: GrantsQuery,
      response: GrantValidity,
      handler: async ({ body, meta }) => ({
        holding: await delegations.holding(body.grants, callingService(meta.principal)),
      }),
    }),

    defineRoute({
      ...internal,
      callers,
      operationId: 'revokeGrant',
      path: '/internal/grants/revoke',
      summary: 'Revoke a standing grant of the calling service',
      body: GrantRevocation,
      errors: ['forbidden', 'invalid_token', 'token_expired'],
      handler: ({ body, meta }) => delegations.revoke(body.grant, callingService(meta.principal)),
    }),
  ]
}
