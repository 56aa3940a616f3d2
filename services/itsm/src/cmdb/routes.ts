import type { Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { classRoutes } from './class/class-routes.js'
import type { ClassStore } from './class/class-store.js'
import { itemActionRoutes } from './item/item-action-routes.js'
import { itemRoutes } from './item/item-routes.js'
import type { ItemStore } from './item/item-store.js'
import { relationRoutes } from './relation/relation-routes.js'
import { relationStore } from './relation/relation-store.js'

/** Routes of items, their classes and relations. The routes of their graph are in `impact`. */
export function cmdbRoutes(ctx: ServiceContext, items: ItemStore, classes: ClassStore): Route[] {
  return [
    ...itemRoutes(ctx, items),
    ...itemActionRoutes(items),
    ...classRoutes(ctx, classes),
    ...relationRoutes(ctx, items, relationStore(ctx, items)),
  ]
}
