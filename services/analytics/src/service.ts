import { fileURLToPath } from 'node:url'
import { createDelegations } from '@opsplane/http'
import { defineService, dependentsRoute, openServiceClient } from '@opsplane/service'
import { type AnalyticsConfig, loadConfig } from './config.js'
import { createChangeWaiter } from './dashboard/change-waiter.js'
import { createDashboards } from './dashboard/dashboards.js'
import { createDashboardData } from './dashboard/data.js'
import { dashboard } from './dashboard/domain.js'
import { dashboardRoutes } from './dashboard/routes.js'
import { dependents } from './dependents.js'
import { dataExport } from './export/domain.js'
import { openExports } from './export/open.js'
import { createOwners } from './export/owner.js'
import { createFactVersions } from './fact/fact-versions.js'
import { openFacts } from './fact/open-facts.js'
import { rebuildFacts } from './fact/rebuild.js'
import { kpi } from './kpi/domain.js'
import { openKpis } from './kpi/open.js'
import { createAnswerCache } from './query/answer-cache.js'
import { datasetRoutes } from './query/dataset-routes.js'
import { createQueryRunner } from './query/runner.js'
import { createStudioQueries } from './query/studio.js'
import { report } from './report/domain.js'
import { reportRoutes } from './report/routes.js'
import { rollupWork } from './rollup/sum-up.js'

const studioTimeoutMs = 30_000
const maxAnswers = 500

export const analytics = defineService<AnalyticsConfig>({
  name: 'analytics',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [report, dashboard, dataExport, kpi],
  alsoRebuild: rebuildFacts,
  async setup(ctx) {
    const settings = openServiceClient(ctx, 'settings')
    const client = openServiceClient(ctx, 'database-studio', studioTimeoutMs)
    const delegations = createDelegations(settings)
    const facts = openFacts(ctx, ctx.config)
    ctx.dueWork.start(rollupWork)
    const runner = createQueryRunner({
      ...{ database: ctx.database, age: facts.age, clock: ctx.clock },
      cache: createAnswerCache(maxAnswers),
      studio: createStudioQueries({ client, database: ctx.database, clock: ctx.clock }),
    })
    const dashboards = createDashboards(ctx, runner)
    const data = createDashboardData({
      versions: createFactVersions(ctx.database),
      dashboards,
      runner,
      age: facts.age,
    })
    const waiter = createChangeWaiter(facts.notifications)
    const owners = createOwners({ settings, delegations })
    const exports = await openExports(ctx, { delegations, owners, runner, studio: client })
    const kpis = openKpis(ctx, { delegations, owners, runner })
    return {
      routes: [
        ...datasetRoutes(ctx),
        ...reportRoutes(ctx, { runner, delegations }),
        ...dashboardRoutes(ctx, { dashboards, data, waiter, delegations }),
        ...exports.routes,
        ...kpis.routes,
        dependentsRoute(ctx.database, dependents),
      ],
      background: [settings, client, ...facts.background, ...exports.background, ...kpis.background],
      onDrain: waiter.drain,
    }
  },
})
