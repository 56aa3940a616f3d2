import {
  AsOfListQuery,
  AsOfQuery,
  ConfigurationItem,
  ConfigurationItemPatch,
  NewConfigurationItem,
  shortPages,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { configurationItems as table } from '../../schema/cmdb.js'
import { itemFilters } from '../list-filters.js'
import { countOpenIncidents, itemSelection } from '../queries.js'
import type { ItemStore } from './item-store.js'

export const tag = 'CMDB'

export const route = defineResource({
  name: 'ConfigurationItem',
  path: '/cmdb/items',
  tag,
  read: 'cmdb:read',
  write: 'cmdb:write',
  response: ConfigurationItem,
})

/** Routes that read, create and change configuration items. */
export function itemRoutes(ctx: ServiceContext, items: ItemStore): Route[] {
  const { db } = ctx.database
  return [
    route.list({
      summary: 'List configuration items',
      description: `Returns items that match all given filters. Newest first unless \`sort\` specifies otherwise. ${shortPages}`,
      query: itemFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'name'],
      handler: pageReader(ctx, {
        table,
        present: items.present,
        select: ({ query }) => itemSelection(query),
      }),
    }),

    route.create({
      summary: 'Create a configuration item',
      description:
        'The item is planned unless `status` is operational. `attributes` must match the schema of the class. The ' +
        'combination of `source` and `nativeKey` is unique: a conflict error returns the existing item as ' +
        '`params.itemId`. Emits `ci.created`.',
      body: NewConfigurationItem,
      errors: ['conflict'],
      handler: ({ body, meta }) => items.record(body, meta),
    }),

    route.get({
      summary: 'Get a configuration item',
      description:
        'Includes the number of open incidents that concern the item, unless `asOf` requests an earlier state.',
      query: AsOfQuery,
      handler: async ({ params, query: { asOf }, meta }) => {
        const item = await items.asOf(params.id, meta.tenant, asOf)
        if (asOf !== undefined) return item
        return { ...item, openIncidents: await countOpenIncidents(db, meta.tenant, item.id) }
      },
    }),

    route.update({
      summary: 'Update a configuration item',
      description:
        'Changes the given fields; `attributes` and `redundancy` are replaced as a whole. Emits `ci.updated`, and ' +
        'for a `status` the event of the action that leads to it. An update without changes emits no event.',
      body: ConfigurationItemPatch,
      errors: ['invalid_state_transition'],
      handler: ({ params, body, meta }) => items.change(params.id, body, meta),
    }),

    route.delete({
      summary: 'Delete a planned configuration item',
      description:
        'Allowed only while the item is planned and has no relations; retire an item that was in service. Emits ' +
        '`ci.deleted`.',
      errors: ['invalid_state_transition', 'conflict'],
      handler: ({ params, meta }) => items.drop(params.id, meta),
    }),
  ]
}
