import type { Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import type { StudioConfig } from '../config.js'
import type { DataPlane } from '../data-plane/data-plane.js'
import { savedQueryRoutes } from './routes.js'
import { createQueryRunner } from './run.js'
import { createFreeSql, type FreeSqlOptions, runRoutes } from './run-routes.js'
import { createQuerySlots } from './slots.js'

/** Everything about SQL that callers write: run at once, or saved. */
export function createQueries(
  ctx: ServiceContext<StudioConfig>,
  plane: DataPlane,
  refusals: Pick<FreeSqlOptions, 'refuseRuled' | 'refuseFull'>,
): { routes: Route[] } {
  const runner = createQueryRunner(plane, ctx.database)
  const freeSql = createFreeSql({
    runner,
    slots: createQuerySlots(ctx.config.queriesPerWorkspace),
    plane,
    ...refusals,
  })
  return { routes: [...runRoutes(freeSql), ...savedQueryRoutes(ctx, freeSql)] }
}
