import {
  AsOfListQuery,
  AsOfQuery,
  CatalogItem,
  CatalogItemPatch,
  CatalogItemStatus,
  NewCatalogItem,
  notFound,
  shortPages,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { enforcedKeywords } from '../json-schema/description.js'
import { createdFilters } from '../lists/created-filters.js'
import { listParameter, searchFilter, searchSyntax } from '../lists/filters.js'
import { catalogItems as table } from '../schema/catalog.js'
import { isCatalogManager } from './access.js'
import type { ItemStore } from './item-store.js'
import { activeItems, itemSelection } from './queries.js'

export const tag = 'Service catalogue'

const filters = z.object({
  status: listParameter(CatalogItemStatus)
    .optional()
    .meta({
      description:
        'One or several statuses, repeated or separated by commas. Callers without `catalog:write` see active items ' +
        'only.',
      example: ['active'],
    }),
  category: z.string().min(1).max(100).optional(),
  tag: z.string().min(1).max(50).optional(),
  q: searchFilter.meta({
    description: `Words to find in the name, tags, category or description. ${searchSyntax}`,
  }),
  ...createdFilters,
})

const route = defineResource({
  name: 'CatalogItem',
  path: '/catalog/items',
  tag,
  read: 'catalog:read',
  write: 'catalog:write',
  response: CatalogItem,
})

/** Routes that read, create and change catalogue items. */
export function itemRoutes(ctx: ServiceContext, items: ItemStore): Route[] {
  return [
    route.list({
      summary: 'List catalogue items',
      description:
        'Callers with `catalog:write` see every item, other callers the active ones; with `asOf`, items that were ' +
        `active at that instant and still are. Newest first unless \`sort\` specifies otherwise. ${shortPages}`,
      query: filters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'name'],
      handler: pageReader(ctx, {
        table,
        present: items.present,
        select: ({ query, binding, meta }) => ({
          ...itemSelection(
            query,
            isCatalogManager(meta) ? undefined : activeItems(ctx.database.db, query.asOf),
          ),
          binding: `${isCatalogManager(meta)}|${binding}`,
        }),
      }),
    }),

    route.create({
      summary: 'Create a draft catalogue item',
      description:
        `\`formSchema\` is a JSON Schema of type object. ${enforcedKeywords} Lists contain scalars or objects. Emits ` +
        '`catalog_item.created`.',
      body: NewCatalogItem,
      handler: ({ body, meta }) => items.draft(body, meta),
    }),

    route.get({
      summary: 'Get a catalogue item',
      description: 'Includes the form, approvals and tasks. With `asOf`, returns the state at that instant.',
      query: AsOfQuery,
      handler: async ({ params, query: { asOf }, meta }) => {
        const item = await items.asOf(params.id, meta.tenant, asOf)
        if (isCatalogManager(meta)) return item
        const present = asOf === undefined ? item : await items.get(params.id, meta.tenant)
        if (item.status !== 'active' || present.status !== 'active') throw notFound()
        return item
      },
    }),

    route.update({
      summary: 'Edit a catalogue item',
      description:
        'Creates a revision; requests submitted before keep their revision. Emits `catalog_item.updated`; an update ' +
        'without changes emits no event.',
      body: CatalogItemPatch,
      errors: ['invalid_state_transition'],
      handler: ({ params, body, meta }) => items.edit(params.id, body, meta),
    }),

    route.action('activate', {
      summary: 'Activate a catalogue item',
      description: 'Makes the item available for requests. Emits `catalog_item.activated`.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => items.handle(params.id, { kind: 'activate', now: meta.now }, meta),
    }),

    route.action('retire', {
      summary: 'Retire a catalogue item',
      description: 'Retirement is final. Requests already submitted continue. Emits `catalog_item.retired`.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => items.handle(params.id, { kind: 'retire', now: meta.now }, meta),
    }),

    route.delete({
      summary: 'Delete a draft catalogue item',
      description:
        'An item that was ever active cannot be deleted; retire it instead. Emits `catalog_item.deleted`.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => items.handle(params.id, { kind: 'delete', now: meta.now }, meta),
    }),
  ]
}
