import { AsOfListQuery, AsOfQuery, CiRelation, NewCiRelation, shortPages } from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineList, defineResource, type RequestMeta, type Route } from '@opsplane/http'
import type { KeysetOptions } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { ciRelations as table } from '../../schema/cmdb.js'
import { tag } from '../item/item-routes.js'
import type { ItemStore } from '../item/item-store.js'
import { itemRelationFilters, relationFilters } from '../list-filters.js'
import { type RelationFilters, relationSelection } from './relation-selection.js'
import type { RelationStore } from './relation-store.js'

const route = defineResource({
  name: 'CiRelation',
  path: '/cmdb/relations',
  tag,
  read: 'cmdb:read',
  write: 'cmdb:write',
  response: CiRelation,
})

/** Routes of the relations between configuration items. */
export function relationRoutes(ctx: ServiceContext, items: ItemStore, relations: RelationStore): Route[] {
  const page = (
    { asOf, ...filters }: RelationFilters & { asOf?: string | undefined },
    list: Pick<KeysetOptions<CiRelation>, 'limit' | 'after' | 'binding'> & { direction: 'asc' | 'desc' },
    { tenant }: RequestMeta,
  ) => {
    const { direction, ...place } = list
    return listPage(ctx.database.db, {
      ...place,
      asOf,
      table,
      tenant,
      ...relationSelection(filters, tenant, asOf),
      sort: { column: table.createdAt, direction },
      cursors: ctx.cursors,
      present: relations.present,
    })
  }

  return [
    route.list({
      summary: 'List relations',
      description:
        'Returns relations that match all given filters. Newest first unless `sort` specifies otherwise. ' +
        `${shortPages}`,
      query: relationFilters.extend(AsOfListQuery.shape),
      handler: ({ query: { limit, after, sort, ...filters }, binding, meta }) =>
        page(filters, { limit, after, binding, direction: sort.direction }, meta),
    }),

    defineList({
      operationId: 'listRelationsOfConfigurationItem',
      path: '/cmdb/items/:id/relations',
      summary: 'List the relations of a configuration item',
      description:
        'Returns relations that have the item as source or target and match all given filters; with `asOf`, the ' +
        `relations at that instant. ${shortPages}`,
      tag,
      scope: 'cmdb:read',
      query: itemRelationFilters.extend(AsOfListQuery.shape),
      response: CiRelation,
      handler: async ({ params, query: { limit, after, sort, ...filters }, binding, meta }) => {
        const { id: itemId } = await items.asOf(params.id, meta.tenant, filters.asOf)
        return page({ ...filters, itemId }, { limit, after, binding, direction: sort.direction }, meta)
      },
    }),

    route.get({
      summary: 'Get a relation',
      description:
        'The relation leads from `sourceId` to `targetId`. With `asOf`, returns the state at that instant.',
      query: AsOfQuery,
      handler: ({ params, query, meta }) => relations.asOf(params.id, meta.tenant, query.asOf),
    }),

    route.create({
      summary: 'Create a relation between two configuration items',
      description:
        'There is at most one relation of each type from one item to another. Emits `ci.relation_added`.',
      body: NewCiRelation,
      errors: ['conflict', 'version_conflict'],
      handler: ({ body, meta }) => relations.add(body, meta),
    }),

    route.delete({
      summary: 'Delete a relation',
      description: 'Emits `ci.relation_removed`.',
      handler: ({ params, meta }) => relations.handle(params.id, { kind: 'remove' }, meta),
    }),
  ]
}
