import type { Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import type { People } from '../people.js'
import { catalogItem } from './item-domain.js'
import { itemRoutes } from './item-routes.js'
import { itemStore } from './item-store.js'
import { requestActionRoutes } from './request-action-routes.js'
import { catalogRequest } from './request-domain.js'
import { requestRoutes } from './request-routes.js'
import { requestStore } from './request-store.js'

export const catalogDeciders = [catalogItem, catalogRequest]

/** Additional tables that the deciders project to. */
export const catalogProjectedTables = ['catalog_item_revisions']

export function catalogRoutes(ctx: ServiceContext, people: People): Route[] {
  const items = itemStore(ctx, people)
  const requests = requestStore(ctx, items, people)
  return [...itemRoutes(ctx, items), ...requestRoutes(ctx, requests), ...requestActionRoutes(requests)]
}
