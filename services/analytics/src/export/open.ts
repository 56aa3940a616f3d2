import type { Delegations, ServiceClient } from '@opsplane/http'
import { createLimits } from '@opsplane/runtime'
import type { BackgroundWork, ServiceContext, ServiceParts } from '@opsplane/service'
import type { AnalyticsConfig } from '../config.js'
import { toCaller } from '../query/caller.js'
import type { QueryRunner } from '../query/types.js'
import { report } from '../report/domain.js'
import { openStorage } from '../storage/open-storage.js'
import { dataExport } from './domain.js'
import { createExportService, presentExport } from './exports.js'
import { createJobStore } from './job-store.js'
import { createLinks } from './links.js'
import type { Owners } from './owner.js'
import { createPlan } from './plan-source.js'
import { exportRoutes } from './routes.js'
import { createOpenRows } from './rows.js'
import { linkTokens } from './token.js'
import { exportWork, exportWorkName } from './work.js'

export interface ExportsOptions {
  delegations: Delegations
  owners: Owners
  runner: QueryRunner
  studio: Pick<ServiceClient, 'get' | 'stream'>
}

/** Assembles everything that writes, stores and serves export files. */
export async function openExports(
  ctx: ServiceContext<AnalyticsConfig>,
  { delegations, owners, runner, studio }: ExportsOptions,
): Promise<Required<Pick<ServiceParts, 'routes' | 'background'>>> {
  const { config, database } = ctx
  const { storage, background } = await openStorage(ctx)
  const limits = createLimits(config)
  const store = createJobStore(database.sql)
  const aggregate = ctx.store.aggregate(dataExport, { present: presentExport })
  const links = createLinks({
    ...{ db: database.db, tokens: linkTokens(config.cursorSecret), origin: config.publicOrigin },
    find: async (id, tenant) => (await aggregate.find(id, tenant))?.state,
  })
  const wake = () => ctx.dueWork.wake(exportWorkName)
  ctx.dueWork.start(
    exportWork({
      ...{ exports: aggregate, eventStore: ctx.store, store, storage, owners, limits, log: ctx.log },
      ...{ partBytes: config.exportPartBytes, sliceMs: config.exportSliceMs, leaseMs: config.exportLeaseMs },
      retentionHours: config.exportRetentionHours,
      openRows: createOpenRows({ runner, studio }),
      wake,
    }),
  )
  const reports = ctx.store.aggregate(report)
  const plan = createPlan({
    ...{ sql: database.sql, runner, studio, report: (id, meta) => reports.get(id, meta.tenant) },
    toCaller: (meta) => toCaller(meta, delegations),
  })
  const exports = createExportService({ database, exports: aggregate, delegations, limits, plan, wake })
  const leavers: BackgroundWork = ctx.consume({
    durable: 'analytics-export-links',
    types: ['user.suspended', 'user.deactivated'],
    perform: async (events) => {
      for (const { workspaceId, resource } of events) await links.revokeByUser(workspaceId, resource.id)
    },
  })
  return {
    routes: exportRoutes(ctx, { aggregate, exports, links, store, storage, cursors: ctx.cursors }),
    background: [...background, leavers],
  }
}
