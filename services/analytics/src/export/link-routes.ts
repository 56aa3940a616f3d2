import { ApiError, ExportLink } from '@opsplane/contracts'
import { defineList, defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import type { CursorCodec } from '@opsplane/runtime'
import type { ExportAggregate } from './exports.js'
import type { Links } from './links.js'

const tag = 'Exports'
const path = '/analytics/exports/:id/links'

/** Routes for the download URLs of an export. */
export function linkRoutes({
  aggregate,
  links,
  cursors,
}: {
  aggregate: ExportAggregate
  links: Links
  cursors: CursorCodec
}): Route[] {
  const refuseStrangers = async (id: string, { tenant, principal }: RequestMeta) => {
    const { ownerId } = await aggregate.get(id, tenant)
    if (ownerId === principal.userId || principal.permissions.includes('analytics:write')) return
    throw new ApiError('forbidden', 'Only the owner, or a user with analytics:write, can change this export.')
  }
  return [
    defineList({
      operationId: 'listExportLinks',
      path,
      summary: 'List the download URLs of an export',
      description: 'Returns the user and the number of uses of each download URL, but not the URL itself.',
      tag,
      scope: 'analytics:export',
      sorts: [],
      response: ExportLink,
      handler: async ({ params, query: { limit, after }, binding, meta: { tenant } }) => {
        await aggregate.get(params.id, tenant)
        const scope = `${tenant.workspaceId}|${tenant.environment}|${binding}`
        const before = after === undefined ? undefined : String(cursors.decode(after, scope)[0])
        const found = await links.list(params.id, tenant, { limit: limit + 1, before })
        const items = found.slice(0, limit)
        const last = items.at(-1)
        const isMore = found.length > limit && last !== undefined
        return { items, nextCursor: isMore ? cursors.encode([last.id], scope) : null, limit }
      },
    }),

    defineRoute({
      operationId: 'revokeExportLink',
      method: 'delete',
      path: `${path}/:linkId`,
      summary: 'Revoke a download URL',
      description:
        'The URL stops working immediately; downloads in progress are not interrupted. Only the owner of the export ' +
        'and callers with `analytics:write` can revoke it.',
      tag,
      scope: 'analytics:export',
      ifMatch: false,
      errors: ['forbidden'],
      handler: async ({ params, meta }) => {
        await refuseStrangers(params.id, meta)
        await links.revoke(params.linkId, params.id, meta.tenant)
      },
    }),

    defineRoute({
      operationId: 'revokeExportLinks',
      method: 'delete',
      path,
      summary: 'Revoke all download URLs of an export',
      description:
        'The URLs stop working immediately; downloads in progress are not interrupted. Only the owner of the export ' +
        'and callers with `analytics:write` can revoke them.',
      tag,
      scope: 'analytics:export',
      ifMatch: false,
      errors: ['forbidden'],
      handler: async ({ params, meta }) => {
        await refuseStrangers(params.id, meta)
        await links.revokeAll(params.id, meta.tenant)
      },
    }),
  ]
}
