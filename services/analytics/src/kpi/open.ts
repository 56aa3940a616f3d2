import type { Delegations } from '@opsplane/http'
import { createLimits } from '@opsplane/runtime'
import type { ServiceContext, ServiceParts } from '@opsplane/service'
import type { Owners } from '../export/owner.js'
import { toCaller } from '../query/caller.js'
import type { QueryRunner } from '../query/types.js'
import { kpi } from './domain.js'
import { createKpiService, presentKpi } from './kpis.js'
import { kpiRoutes } from './routes.js'
import { startKpiSchedules } from './schedules.js'
import { evaluationWork } from './work.js'

export interface KpisOptions {
  delegations: Delegations
  owners: Owners
  runner: QueryRunner
}

/** Assembles everything that defines, measures and serves KPIs. */
export function openKpis(
  ctx: ServiceContext,
  { delegations, owners, runner }: KpisOptions,
): Required<Pick<ServiceParts, 'routes' | 'background'>> {
  const aggregate = ctx.store.aggregate(kpi, { present: presentKpi })
  const work = ctx.dueWork.start(evaluationWork({ kpis: aggregate, eventStore: ctx.store, runner, owners }))
  const wake = () => work.wake()
  const kpis = createKpiService({
    ...{ database: ctx.database, kpis: aggregate, runner, delegations, log: ctx.log, wake },
    ...{ toCaller: (meta) => toCaller(meta, delegations), limits: createLimits(ctx.config) },
  })
  return {
    routes: kpiRoutes(ctx, { aggregate, kpis }),
    background: [startKpiSchedules(ctx, { kpis: aggregate, wake })],
  }
}
