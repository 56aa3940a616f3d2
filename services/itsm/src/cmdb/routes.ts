import type { Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { classRoutes } from './class-routes.js'
import { classStore } from './class-store.js'
import { graphRoutes } from './graph-routes.js'
import { itemActionRoutes } from './item-action-routes.js'
import { itemRoutes } from './item-routes.js'
import { itemStore } from './item-store.js'
import { relationRoutes } from './relation-routes.js'
import { relationStore } from './relation-store.js'

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
