import type { Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { classRoutes } from './class/class-routes.js'
import { classStore } from './class/class-store.js'
import { graphRoutes } from './impact/graph-routes.js'
import { itemActionRoutes } from './item/item-action-routes.js'
import { itemRoutes } from './item/item-routes.js'
import { itemStore } from './item/item-store.js'
import { relationRoutes } from './relation/relation-routes.js'
import { relationStore } from './relation/relation-store.js'

/** Everything below /cmdb. */
export function cmdbRoutes(ctx: ServiceContext): Route[] {
  const classes = classStore(ctx)
  const items = itemStore(ctx, classes)
  return [
    ...itemRoutes(ctx, items),
    ...itemActionRoutes(items),
    ...classRoutes(ctx, classes),
    ...relationRoutes(ctx, items, relationStore(ctx, items)),
    ...graphRoutes(ctx, items),
  ]
}
