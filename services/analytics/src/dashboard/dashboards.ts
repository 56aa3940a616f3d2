import {
  ApiError,
  type CommandMeta,
  type Dashboard,
  type DashboardPatch,
  type DashboardState,
  type NewDashboard,
  notFound,
  RunReport,
  type TenantScope,
} from '@opsplane/contracts'
import type { ServiceContext } from '@opsplane/service'
import type { z } from 'zod'
import { InvalidQuery } from '../query/invalid-query.js'
import type { QueryRunner } from '../query/types.js'
import { report } from '../report/domain.js'
import { fillQuery } from '../report/report-query.js'
import { builtInDashboards } from './built-in.js'
import { dashboard } from './domain.js'

const present = (state: DashboardState, version: number): Dashboard => ({ ...state, version, builtIn: false })

export function createDashboards(
  { store }: Pick<ServiceContext, 'store'>,
  runner: Pick<QueryRunner, 'checkQuery'>,
) {
  const aggregate = store.aggregate(dashboard, { present })
  const reports = store.aggregate(report)

  /** Throws `validation_failed` naming the widget whose query is invalid or whose report does not exist. */
  const check = async (widgets: NewDashboard['widgets'], tenant: TenantScope) => {
    for (const [index, { query, report: id, parameters }] of widgets.entries())
      try {
        if (query) runner.checkQuery(query)
        if (id !== undefined)
          fillQuery(await reports.get(id, tenant), RunReport.parse({ parameters }), `/widgets/${index}`)
      } catch (error) {
        if (error instanceof InvalidQuery) throw error.within(`/widgets/${index}/query`)
        throw id === undefined || (error instanceof ApiError && error.code === 'validation_failed')
          ? error
          : new InvalidQuery(`/widgets/${index}/report`, 'cannot be run like this')
      }
  }

  return {
    aggregate,
    reports,
    check,
    /** Returns a built-in dashboard or one of the environment. Throws `not_found`. */
    async get(id: string, tenant: TenantScope): Promise<Dashboard> {
      const builtIn = builtInDashboards.find((each) => each.id === id)
      return builtIn ?? aggregate.get(id, tenant)
    },
    create: async (id: string, body: NewDashboard, meta: CommandMeta & { principal: { userId: string } }) => {
      await check(body.widgets, meta.tenant)
      const fields = { ...body, ownerId: meta.principal.userId }
      return aggregate.create(id, { kind: 'create', id, fields, now: meta.now }, meta)
    },
    async update(id: string, patch: z.output<typeof DashboardPatch>, meta: CommandMeta): Promise<Dashboard> {
      refuseBuiltIn(id)
      if (patch.widgets) await check(patch.widgets, meta.tenant)
      return aggregate.handle(id, { kind: 'update', patch, now: meta.now }, meta)
    },
    async delete(id: string, meta: CommandMeta): Promise<void> {
      refuseBuiltIn(id)
      await aggregate.handle(id, { kind: 'delete' }, meta)
    },
  }
}
export type Dashboards = ReturnType<typeof createDashboards>

/** Built-in dashboards cannot be changed: writes to them fail with `not_found`. */
function refuseBuiltIn(id: string): void {
  if (builtInDashboards.some((each) => each.id === id)) throw notFound()
}
