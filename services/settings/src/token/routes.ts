import { NewToken, Token, TokenCreated, TokenRotation } from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import { keysetPage } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import { tokens as table } from '../schema.js'
import { homeOf } from '../workspace/home.js'
import type { Keys } from './keys.js'
import { lastUses, withinEnvironments } from './queries.js'

const tag = 'Authentication'

/** API keys of the calling user in the current workspace. */
export function tokenRoutes({ database: { db }, cursors }: ServiceContext, keys: Keys): Route[] {
  return [
    defineList({
      operationId: 'listTokens',
      path: '/auth/tokens',
      summary: 'List your API keys',
      description:
        'Those of the calling user in this workspace, with revoked ones; to a key for some environments, those for no ' +
        'others. Never the keys themselves.',
      tag,
      scope: 'tokens:manage',
      response: Token,
      handler: async ({ query: { limit, after, sort }, binding, meta }) => {
        const environments = await keys.environmentsOf(meta)
        const page = await keysetPage(db, {
          table,
          tenant: homeOf(meta.tenant.workspaceId),
          where: [eq(table.userId, meta.principal.userId), withinEnvironments(environments)],
          sort: { column: table.createdAt, direction: sort.direction },
          ...{ limit, after, cursors, present: keys.present },
          binding: `${meta.principal.userId}|${environments}|${binding}`,
        })
        const uses = await lastUses(
          db,
          page.items.map((key) => key.id),
        )
        return { ...page, items: page.items.map((key) => ({ ...key, lastUsedAt: uses.get(key.id) ?? null })) }
      },
    }),

    defineRoute({
      operationId: 'createToken',
      method: 'post',
      path: '/auth/tokens',
      summary: 'Create an API key',
      description:
        'Allows at most what the caller may do. `token` is shown this once. Emits `token.created`.',
      tag,
      scope: 'tokens:manage',
      body: NewToken,
      response: TokenCreated,
      status: 201,
      errors: ['insufficient_scope', 'environment_forbidden'],
      redactReplay: withoutPlaintext,
      handler: ({ body, meta }) => keys.create(body, meta),
    }),

    defineRoute({
      operationId: 'rotateToken',
      method: 'post',
      path: '/auth/tokens/rotate',
      summary: 'Rotate an API key',
      description:
        'Creates a successor with the same rights and leaves the old key valid for a short overlap, in one ' +
        'transaction. Without `id` it is the key of this request; another one needs `tokens:manage`. Using the old ' +
        'key after the overlap revokes the successor as well. Emits `token.rotated` and `token.created`.',
      tag,
      scope: 'authenticated',
      body: TokenRotation,
      response: TokenCreated,
      status: 201,
      errors: ['not_found', 'insufficient_scope', 'environment_forbidden', 'invalid_state_transition'],
      redactReplay: withoutPlaintext,
      handler: ({ body, meta }) => keys.rotate(body, meta),
    }),

    defineRoute({
      operationId: 'revokeToken',
      method: 'delete',
      path: '/auth/tokens/:id',
      summary: 'Revoke an API key',
      description: 'It stops being valid at once and stays in the list. Emits `token.revoked`.',
      tag,
      scope: 'tokens:manage',
      response: Token,
      errors: ['not_found', 'precondition_failed'],
      handler: async ({ params, meta }) => {
        const revoked = await keys.revoke(params.id, meta)
        return { ...revoked, lastUsedAt: (await lastUses(db, [revoked.id])).get(revoked.id) ?? null }
      },
    }),
  ]
}

/** What may be kept for replay. */
function withoutPlaintext(created: TokenCreated): TokenCreated {
  return { ...created, token: null }
}
