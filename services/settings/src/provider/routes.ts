import { IdentityProvider, IdentityProviderPatch, NewIdentityProvider } from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import { keysetPage } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { identityProviders as table } from '../schema/provider.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import type { Providers } from './providers.js'

const tag = 'Single sign-on'
const path = '/settings/identity-providers'
const one = `${path}/:id` as const
const changing = { stepUp: true, tag, scope: 'owners:manage' } as const
const beyond = 'Owners alone, in a session: an API key is refused. '

/** The identity providers of the current workspace. */
export function providerRoutes(
  { database: { db }, cursors }: Pick<ServiceContext, 'database' | 'cursors'>,
  providers: Providers,
): Route[] {
  return [
    defineList({
      operationId: 'listIdentityProviders',
      path,
      summary: 'List identity providers',
      description: 'Providers that users of the workspace sign in with. Their secrets are never returned.',
      tag,
      scope: 'credentials:manage',
      response: IdentityProvider,
      handler: ({ query: { limit, after, sort }, binding, meta }) =>
        keysetPage(db, {
          table,
          tenant: workspaceScope(meta.tenant.workspaceId),
          sort: { column: table.createdAt, direction: sort.direction },
          ...{ limit, after, binding, cursors, present: providers.present },
        }),
    }),

    defineRoute({
      operationId: 'getIdentityProvider',
      method: 'get',
      path: one,
      summary: 'Get an identity provider',
      description: 'With the addresses to register at the provider.',
      tag,
      scope: 'credentials:manage',
      response: IdentityProvider,
      errors: ['not_found'],
      handler: ({ params, meta }) => providers.get(params.id, meta),
    }),

    defineRoute({
      ...changing,
      operationId: 'createIdentityProvider',
      method: 'post',
      path,
      summary: 'Connect an identity provider',
      description: `${beyond}Register \`redirectUri\` with the provider. Emits \`identity_provider.created\`.`,
      body: NewIdentityProvider,
      response: IdentityProvider,
      status: 201,
      errors: ['conflict', 'forbidden'],
      handler: ({ body, meta }) => providers.create(body, meta),
    }),

    defineRoute({
      ...changing,
      operationId: 'updateIdentityProvider',
      method: 'patch',
      path: one,
      summary: 'Change an identity provider',
      description: `${beyond}Its issuer cannot change. Disabling it ends its sessions. Emits \`identity_provider.updated\`.`,
      body: IdentityProviderPatch,
      response: IdentityProvider,
      errors: ['not_found', 'forbidden', 'precondition_failed', 'version_conflict'],
      handler: ({ params, body, meta }) => providers.update(params.id, body, meta),
    }),

    defineRoute({
      ...changing,
      operationId: 'deleteIdentityProvider',
      method: 'delete',
      path: one,
      summary: 'Remove an identity provider',
      description:
        `${beyond}Its sessions end, and its identities no longer sign in: users without another way to sign in need an invitation afterwards. Emits ` +
        '`identity_provider.deleted`.',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'forbidden', 'precondition_failed', 'version_conflict'],
      handler: ({ params, meta }) => providers.delete(params.id, meta),
    }),
  ]
}
