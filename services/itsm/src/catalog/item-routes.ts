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
import { listPage } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { enforcedKeywords } from '../json-schema/description.js'
import { createdFilters } from '../lists/created-filters.js'
import { listParameter, searchFilter, searchSyntax } from '../lists/filters.js'
import { catalogItems as table } from '../schema/catalog.js'
import { transitionErrors } from '../transition-errors.js'
import { isCatalogManager } from './access.js'
import type { ItemStore } from './item-store.js'
import { activeItems, itemSelection, itemSorts } from './queries.js'

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

/** Reading, making and changing what can be requested. */
export function itemRoutes({ database: { db }, cursors }: ServiceContext, items: ItemStore): Route[] {
  return [
    defineList({
      operationId: 'listCatalogItems',
      path: '/catalog/items',
      summary: 'List what can be requested',
      description:
        'Those with `catalog:write` get every item, others the active ones, with `asOf` those active then that still are. Newest ' +
        `first unless \`sort\` says otherwise. ${shortPages}`,
      tag,
      scope: 'catalog:read',
      query: filters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'name'],
      response: CatalogItem,
      handler: ({ query: { limit, after, sort, asOf, ...given }, binding, meta }) =>
        listPage(db, {
          asOf,
          table,
          tenant: meta.tenant,
          ...itemSelection(given, isCatalogManager(meta) ? undefined : activeItems(db, asOf)),
          sort: { column: itemSorts[sort.field], direction: sort.direction },
          limit,
          after,
          binding: `${isCatalogManager(meta)}|${binding}`,
          cursors,
          present: items.present,
        }),
    }),

    defineRoute({
      operationId: 'createCatalogItem',
      method: 'post',
      path: '/catalog/items',
      summary: 'Begin a catalogue item',
      description:
        `As a draft. \`formSchema\` is a JSON Schema of type object. ${enforcedKeywords} Lists hold scalars or ` +
        'objects. Emits `catalog_item.created`.',
      tag,
      scope: 'catalog:write',
      body: NewCatalogItem,
      response: CatalogItem,
      status: 201,
      handler: ({ body, meta }) => items.draft(body, meta),
    }),

    defineRoute({
      operationId: 'getCatalogItem',
      method: 'get',
      path: '/catalog/items/:id',
      summary: 'Get a catalogue item',
      description: 'With its form, approvals and tasks. With `asOf` as it was then.',
      tag,
      scope: 'catalog:read',
      query: AsOfQuery,
      response: CatalogItem,
      errors: ['not_found'],
      handler: async ({ params, query: { asOf }, meta }) => {
        const item = await items.asOf(params.id, meta.tenant, asOf)
        if (isCatalogManager(meta)) return item
        const present = asOf === undefined ? item : await items.get(params.id, meta.tenant)
        if (item.status !== 'active' || present.status !== 'active') throw notFound()
        return item
      },
    }),

    defineRoute({
      operationId: 'updateCatalogItem',
      method: 'patch',
      path: '/catalog/items/:id',
      summary: 'Edit a catalogue item',
      description:
        'Makes a revision; requests submitted before keep theirs. Emits `catalog_item.updated`; what changes nothing ' +
        'emits nothing.',
      tag,
      scope: 'catalog:write',
      body: CatalogItemPatch,
      response: CatalogItem,
      errors: transitionErrors,
      handler: ({ params, body, meta }) => items.edit(params.id, body, meta),
    }),

    defineRoute({
      operationId: 'activateCatalogItem',
      method: 'post',
      path: '/catalog/items/:id/activate',
      summary: 'Let a catalogue item be requested',
      description: 'Emits `catalog_item.activated`.',
      tag,
      scope: 'catalog:write',
      response: CatalogItem,
      errors: transitionErrors,
      handler: ({ params, meta }) => items.handle(params.id, { kind: 'activate', now: meta.now }, meta),
    }),

    defineRoute({
      operationId: 'retireCatalogItem',
      method: 'post',
      path: '/catalog/items/:id/retire',
      summary: 'Retire a catalogue item',
      description: 'Final. Requests already submitted go on. Emits `catalog_item.retired`.',
      tag,
      scope: 'catalog:write',
      response: CatalogItem,
      errors: transitionErrors,
      handler: ({ params, meta }) => items.handle(params.id, { kind: 'retire', now: meta.now }, meta),
    }),

    defineRoute({
      operationId: 'deleteCatalogItem',
      method: 'delete',
      path: '/catalog/items/:id',
      summary: 'Delete a draft of a catalogue item',
      description: 'What was active once is retired instead. Emits `catalog_item.deleted`.',
      tag,
      scope: 'catalog:write',
      response: z.void(),
      status: 204,
      errors: transitionErrors,
      handler: async ({ params, meta }) => {
        await items.handle(params.id, { kind: 'delete', now: meta.now }, meta)
      },
    }),
  ]
}
