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
      description: 'One or several; without `catalog:write` there are only active items.',
      example: ['active'],
    }),
  category: z.string().min(1).max(100).optional(),
  tag: z.string().min(1).max(50).optional(),
  q: searchFilter.meta({ description: `Words in name, tags, category or description. ${searchSyntax}` }),
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
      summary: 'List what can be requested',
      description:
        'Those with `catalog:write` get every item, others the active ones, with `asOf` those active then that still are. Newest ' +
        `first unless \`sort\` says otherwise. ${shortPages}`,
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
      summary: 'Begin a catalogue item',
      description:
        `As a draft. \`formSchema\` is a JSON Schema of type object. ${enforcedKeywords} Lists hold scalars or ` +
        'objects. Emits `catalog_item.created`.',
      body: NewCatalogItem,
      handler: ({ body, meta }) => items.draft(body, meta),
    }),

    route.get({
      summary: 'Get a catalogue item',
      description: 'With its form, approvals and tasks. With `asOf` as it was then.',
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
        'Makes a revision; requests submitted before keep theirs. Emits `catalog_item.updated`; what changes nothing ' +
        'emits nothing.',
      body: CatalogItemPatch,
      errors: ['invalid_state_transition'],
      handler: ({ params, body, meta }) => items.edit(params.id, body, meta),
    }),

    route.action('activate', {
      summary: 'Let a catalogue item be requested',
      description: 'Emits `catalog_item.activated`.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => items.handle(params.id, { kind: 'activate', now: meta.now }, meta),
    }),

    route.action('retire', {
      summary: 'Retire a catalogue item',
      description: 'Final. Requests already submitted go on. Emits `catalog_item.retired`.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => items.handle(params.id, { kind: 'retire', now: meta.now }, meta),
    }),

    route.delete({
      summary: 'Delete a draft of a catalogue item',
      description: 'What was active once is retired instead. Emits `catalog_item.deleted`.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => items.handle(params.id, { kind: 'delete', now: meta.now }, meta),
    }),
  ]
}
