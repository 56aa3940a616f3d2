import { ApiError } from '@opsplane/contracts'
import type { Route } from '@opsplane/http'
import { createConcurrencyLimiter } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import type { StudioConfig } from '../config.js'
import type { DataPlane } from '../data-plane/data-plane.js'
import { savedQueryRoutes } from './routes.js'
import { createQueryRunner } from './run.js'
import { createFreeSql, type FreeSqlOptions, runRoutes } from './run-routes.js'

/** SQL written by callers, run directly or saved. */
export function createQueries(
  ctx: ServiceContext<StudioConfig>,
  plane: DataPlane,
  refusals: Pick<FreeSqlOptions, 'refuseRuled' | 'refuseFull'>,
): { routes: Route[] } {
  const runner = createQueryRunner(plane, ctx.database)
  const freeSql = createFreeSql({
    runner,
    limiter: createConcurrencyLimiter({ perKey: ctx.config.queriesPerWorkspace, refusal: tooManyQueries }),
    plane,
    ...refusals,
  })
  return { routes: [...runRoutes(freeSql), ...savedQueryRoutes(ctx, freeSql)] }
}

const tooManyQueries = (max: number) =>
  new ApiError('rate_limited', `This workspace runs ${max} queries already. Try again in a moment.`, {
    headers: { 'Retry-After': '1' },
  })
