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
      summary: 'Make a token to embed an app',
      description:
        'A short-lived JWT for what runs in the environment, which has to be embeddable. It gives what the deployment ' +
        'carries, within the present rights and row rules of its maker and the row filter. So the maker must hold all that ' +
        'the deployment takes (403, `permission_not_held`), and the token ends when they lose some of it. `path` is for the `src` of an iframe on one of ' +
        'the origins. Emits `embed_token.created`.',
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
        'Of the environment, the newest first. The token itself is shown only once, when it is created.',
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
      summary: 'Get what an embed token allows',
      description: 'With its origins, row filter and end; the token itself is shown only when it is made.',
      handler: ({ params, meta }) => embeds.get(params.id, params.tokenId, meta.tenant),
    }),

    route.delete({
      operationId: 'revokeEmbedToken',
      summary: 'Revoke an embed token',
      description: 'From the next request on it is worth nothing. Emits `embed_token.revoked`.',
      handler: ({ params, meta }) => embeds.revoke(params.id, params.tokenId, meta),
    }),
  ]
}
