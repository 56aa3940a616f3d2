import { IdentityProvider, IdentityProviderPatch, NewIdentityProvider } from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { identityProviders as table } from '../schema/provider.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import type { Providers } from './providers.js'

const path = '/settings/identity-providers'
const ownersOnly = 'Only owners, in a session; an API key is rejected. '

const route = defineResource({
  name: 'IdentityProvider',
  path: path,
  tag: 'Single sign-on',
  read: 'credentials:manage',
  write: 'owners:manage',
  response: IdentityProvider,
})

/** Routes for the identity providers of the current workspace. */
export function providerRoutes(
  ctx: Pick<ServiceContext, 'database' | 'cursors'>,
  providers: Providers,
): Route[] {
  return [
    route.list({
      summary: 'List identity providers',
      description:
        'Returns the providers with which users of the workspace sign in. Secrets of the providers are never ' +
        'returned.',
      handler: pageReader(ctx, {
        table,
        present: providers.present,
        select: ({ meta }) => ({ tenant: workspaceScope(meta.tenant.workspaceId) }),
      }),
    }),

    route.get({
      summary: 'Get an identity provider',
      description: 'Includes the addresses to register at the provider.',
      handler: ({ params, meta }) => providers.get(params.id, meta),
    }),

    route.create({
      stepUp: true,
      summary: 'Connect an identity provider',
      description: `${ownersOnly}Register \`redirectUri\` with the provider. Emits \`identity_provider.created\`.`,
      body: NewIdentityProvider,
      errors: ['conflict', 'forbidden'],
      handler: ({ body, meta }) => providers.create(body, meta),
    }),

    route.update({
      stepUp: true,
      summary: 'Update an identity provider',
      description:
        `${ownersOnly}The issuer cannot be changed. Disabling the provider ends its sessions. Emits ` +
        '`identity_provider.updated`.',
      body: IdentityProviderPatch,
      errors: ['forbidden'],
      handler: ({ params, body, meta }) => providers.update(params.id, body, meta),
    }),

    route.delete({
      stepUp: true,
      summary: 'Delete an identity provider',
      description:
        `${ownersOnly}Sessions of the provider end, and its identities can no longer sign in: users without another ` +
        'way to sign in need an invitation afterwards. Emits `identity_provider.deleted`.',
      errors: ['forbidden'],
      handler: ({ params, meta }) => providers.delete(params.id, meta),
    }),
  ]
}
