import { NewToken, Token, TokenCreated, TokenFilters, TokenRotation } from '@opsplane/contracts'
import { defineList, defineResource, defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import { keysetPage } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import { tokens as table } from '../schema.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import type { Keys } from './keys.js'
import { findLastUses, withinEnvironments } from './queries.js'

const tag = 'Authentication'

const route = defineResource({
  name: 'Token',
  path: '/auth/tokens',
  tag,
  read: 'tokens:manage',
  write: 'tokens:manage',
  response: Token,
})

/** Routes for API keys of the calling user in the current workspace. */
export function tokenRoutes({ database: { db }, cursors }: ServiceContext, keys: Keys): Route[] {
  const list = async (meta: RequestMeta, { page, userId, status }: Listing) => {
    const environments = await keys.environmentsOf(meta)
    const { items, ...rest } = await keysetPage(db, {
      table,
      tenant: workspaceScope(meta.tenant.workspaceId),
      where: [
        userId === undefined ? undefined : eq(table.userId, userId),
        status === undefined ? undefined : eq(table.status, status),
        withinEnvironments(environments),
      ],
      ...{ limit: page.limit, after: page.after, cursors, present: keys.present },
      sort: { column: table.createdAt, direction: page.sort.direction },
      binding: `${userId}|${environments}|${page.binding}`,
    })
    return { ...rest, items: await withUses(items) }
  }
  const withUses = async (items: Token[]) => {
    const uses = await findLastUses(
      db,
      items.map(({ id }) => id),
    )
    return items.map((key) => ({ ...key, lastUsedAt: uses.get(key.id) ?? null }))
  }
  const shown = async (key: Token) => (await withUses([key]))[0] ?? key

  return [
    route.list({
      summary: 'List your API keys',
      description:
        'Returns the keys of the calling user in this workspace, including revoked keys. An API key limited to some ' +
        'environments sees no keys of other environments. The key values are never returned.',
      handler: ({ query, binding, meta }) =>
        list(meta, { page: { ...query, binding }, userId: meta.principal.userId }),
    }),

    route.create({
      stepUp: true,
      summary: 'Create an API key',
      description:
        'The scopes of the key are limited to the permissions of the caller. `token` is shown only once. Emits ' +
        '`token.created`.',
      body: NewToken,
      response: TokenCreated,
      errors: ['insufficient_scope', 'environment_forbidden'],
      redactReplay: withoutPlaintext,
      handler: ({ body, meta }) => keys.create(body, meta),
    }),

    defineRoute({
      operationId: 'rotateToken',
      stepUp: true,
      method: 'post',
      path: '/auth/tokens/rotate',
      summary: 'Rotate an API key',
      description:
        'Creates a successor with the same rights and leaves the old key valid for a short overlap, in one ' +
        'transaction. Without `id`, rotates the key of this request; another key requires `tokens:manage`. Using the ' +
        'old key after the overlap also revokes the successor. Emits `token.rotated` and `token.created`.',
      tag,
      scope: 'authenticated',
      body: TokenRotation,
      response: TokenCreated,
      status: 201,
      errors: ['not_found', 'insufficient_scope', 'environment_forbidden', 'invalid_state_transition'],
      redactReplay: withoutPlaintext,
      handler: ({ body, meta }) => keys.rotate(body, meta),
    }),

    route.delete({
      operationId: 'revokeToken',
      summary: 'Revoke an API key',
      description: 'The key becomes invalid immediately and stays in the list. Emits `token.revoked`.',
      response: Token,
      handler: async ({ params, meta }) => shown(await keys.revoke(params.id, meta)),
    }),

    defineList({
      operationId: 'listWorkspaceTokens',
      path: '/settings/tokens',
      summary: 'List the API keys of the workspace',
      description:
        'Returns the keys of all members, including revoked keys. An API key limited to some environments sees no ' +
        'keys of other environments. The key values are never returned.',
      tag: 'Users',
      scope: 'credentials:manage',
      query: TokenFilters,
      response: Token,
      handler: ({ query: { userId, status, ...query }, binding, meta }) =>
        list(meta, { page: { ...query, binding }, userId, status }),
    }),

    defineRoute({
      operationId: 'revokeWorkspaceToken',
      method: 'delete',
      path: '/settings/tokens/:id',
      summary: 'Revoke an API key of a user',
      description:
        'The key becomes invalid immediately and stays in the list. A key that allows more than the caller may do ' +
        'cannot be revoked. Emits `token.revoked`.',
      tag: 'Users',
      scope: 'credentials:manage',
      response: Token,
      errors: ['forbidden'],
      handler: async ({ params, meta }) => shown(await keys.revokeAny(params.id, meta)),
    }),
  ]
}

interface Listing {
  page: { limit: number; after?: string | undefined; sort: { direction: 'asc' | 'desc' }; binding: string }
  userId?: string | undefined
  status?: string | undefined
}

/** The response that may be stored for a repeated request. */
function withoutPlaintext(created: TokenCreated): TokenCreated {
  return { ...created, token: null }
}
