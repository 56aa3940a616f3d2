import { EmbedToken, EmbedTokenCreated, NewEmbedToken } from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import type { Apps } from '../app/apps.js'
import type { Embeds } from './embeds.js'
import { embedTokens as table } from './tables.js'

const tag = 'App embeds'
const path = '/apps/:id/embed-tokens'

const route = defineResource({
  name: 'EmbedToken',
  path: path,
  key: 'tokenId',
  tag,
  read: 'apps:read',
  write: 'apps:deploy',
  response: EmbedToken,
})

/** Routes for the tokens with which other sites embed an app. */
export function embedRoutes(ctx: ServiceContext, { apps, embeds }: { apps: Apps; embeds: Embeds }): Route[] {
  return [
    defineRoute({
      operationId: 'createEmbedToken',
      stepUp: true,
      method: 'post',
      path: '/apps/:id/embed-token',
      summary: 'Create a token to embed an app',
      description:
        'Creates a short-lived JWT for the live deployment in the environment; the deployment must be embeddable. ' +
        'The token grants the rights of the deployment, limited by the current rights and row rules of its creator ' +
        'and by the row filter. The creator must therefore hold all permissions the deployment requires (403, ' +
        '`permission_not_held`), and the token ends when they lose one of them. `path` is intended for the `src` of ' +
        'an iframe on one of the origins. Emits `embed_token.created`.',
      tag,
      scope: 'apps:deploy',
      body: NewEmbedToken,
      response: EmbedTokenCreated,
      status: 201,
      errors: ['forbidden', 'conflict', 'invalid_state_transition'],
      createdBelow: '/apps/:id/embed-tokens',
      redactReplay: (created) => ({ ...created, token: null, path: null }),
      handler: ({ params, body, meta }) => embeds.create(params.id, body, meta),
    }),

    route.list({
      summary: 'List the embed tokens of an app',
      description:
        'Lists the tokens of the environment, newest first. The token itself is returned only once, when it is ' +
        'created.',
      handler: pageReader(ctx, {
        table,
        present: embeds.aggregate.present,
        select: async ({ params: { id }, meta }) => {
          await apps.get(id, meta)
          return { where: [eq(table.appId, id)] }
        },
      }),
    }),

    route.get({
      summary: 'Get an embed token',
      description:
        'Returns the origins, the row filter and the expiry of the token; the token itself is returned only when it ' +
        'is created.',
      handler: ({ params, meta }) => embeds.get(params.id, params.tokenId, meta.tenant),
    }),

    route.delete({
      operationId: 'revokeEmbedToken',
      summary: 'Revoke an embed token',
      description: 'The token is rejected from the next request on. Emits `embed_token.revoked`.',
      handler: ({ params, meta }) => embeds.revoke(params.id, params.tokenId, meta),
    }),
  ]
}
