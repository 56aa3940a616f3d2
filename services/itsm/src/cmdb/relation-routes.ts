import { CiRelation, NewCiRelation } from '@opsplane/contracts'
import type { BackendContext } from '@opsplane/eventstore'
import { defineList, defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import { keysetPage } from '@opsplane/postgres'
import { z } from 'zod'
import { tag } from './item-routes.js'
import type { ItemStore } from './item-store.js'
import { relationTypeFilter } from './list-filters.js'
import { type RelationFilters, relationConditions } from './queries.js'
import type { RelationStore } from './relation-store.js'
import { ciRelations as table } from './tables.js'

/** Relations between configuration items. */
export function relationRoutes(ctx: BackendContext, items: ItemStore, relations: RelationStore): Route[] {
  const page = (
    filters: RelationFilters,
    list: { limit: number; after?: string; binding: string; direction: 'asc' | 'desc' },
    meta: RequestMeta,
  ) =>
    keysetPage(ctx.database.db, {
      table,
      tenant: meta.tenant,
      where: relationConditions(filters),
      sort: { column: table.createdAt, direction: list.direction },
      limit: list.limit,
      after: list.after,
      binding: list.binding,
      cursors: ctx.cursors,
      present: relations.present,
    })

  return [
    defineList({
      operationId: 'listCiRelations',
      path: '/cmdb/relations',
      summary: 'List relations',
      description: 'Newest first unless `sort` says otherwise.',
      tag,
      scope: 'cmdb:read',
      query: z.object({
        itemId: z.string().min(1).max(100).optional().meta({ description: 'At either end.' }),
        type: relationTypeFilter,
      }),
      response: CiRelation,
      handler: ({ query: { limit, after, sort, ...filters }, binding, meta }) =>
        page(filters, { limit, binding, direction: sort.direction, ...(after && { after }) }, meta),
    }),

    defineList({
      operationId: 'listRelationsOfConfigurationItem',
      path: '/cmdb/items/:id/relations',
      summary: 'List the relations of a configuration item',
      description: 'Those it is the source of and those it is the target of.',
      tag,
      scope: 'cmdb:read',
      query: z.object({ type: relationTypeFilter }),
      response: CiRelation,
      errors: ['not_found'],
      handler: async ({ params, query: { limit, after, sort, type }, binding, meta }) => {
        const { id } = await items.get(params.id, meta.tenant)
        const list = { limit, binding, direction: sort.direction, ...(after && { after }) }
        return page({ itemId: id, type }, list, meta)
      },
    }),

    defineRoute({
      operationId: 'createCiRelation',
      method: 'post',
      path: '/cmdb/relations',
      summary: 'Relate two configuration items',
      description: 'There is one relation of a type from one item to another. Emits `ci.relation_added`.',
      tag,
      scope: 'cmdb:write',
      body: NewCiRelation,
      response: CiRelation,
      status: 201,
      errors: ['conflict'],
      handler: ({ body, meta }) => relations.add(body, meta),
    }),

    defineRoute({
      operationId: 'deleteCiRelation',
      method: 'delete',
      path: '/cmdb/relations/:id',
      summary: 'Remove a relation',
      description: 'Emits `ci.relation_removed`.',
      tag,
      scope: 'cmdb:write',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: async ({ params, meta }) => {
        await relations.handle(params.id, { kind: 'remove' }, meta)
      },
    }),
  ]
}
