import { fileURLToPath } from 'node:url'
import { createRequireEnvironment } from '@opsplane/http'
import { createLimits } from '@opsplane/runtime'
import { defineService, dependentsRoute, namesRoute, openServiceClient } from '@opsplane/service'
import { loadConfig, type StudioConfig } from './config.js'
import { spacesBackupSchema } from './data-plane/backup-schema.js'
import { createDataPlane } from './data-plane/data-plane.js'
import { createDefinitions } from './data-plane/definitions.js'
import { registerDataPlaneMetrics } from './data-plane/metrics.js'
import { provisionDataPlane } from './data-plane/provision-data-plane.js'
import { createCheckSpaceQuota } from './data-plane/space-quota.js'
import { openMigrations } from './migration/open.js'
import { migration } from './migration-ledger/domain.js'
import { changeRecorder } from './migration-ledger/record-change.js'
import { savedQuery } from './query/domain.js'
import { createQueries } from './query/queries.js'
import { recordRoutes } from './record-api/record-routes.js'
import { createRecordServices } from './record-api/record-services.js'
import { createRowRuleGuard } from './row/row-rule-guard.js'
import { table } from './table/domain.js'
import { purgeWork } from './table/purge.js'
import { readRulesRoute } from './table/read-rules-route.js'
import { tableRoutes } from './table/routes.js'
import { createTables } from './table/tables.js'
import { dependentImports } from './transfer/dependents.js'
import { createRecordValidator, validationTimeoutMs } from './validation/record-validator.js'
import { validationRoutes } from './validation/routes.js'

export const databaseStudio = defineService<StudioConfig>({
  name: 'database-studio',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  afterMigrations: provisionDataPlane,
  extraSchemas: spacesBackupSchema,
  otherConnections: ({ dataSessions }) => dataSessions,
  deciders: [table, savedQuery, migration],
  setup(ctx) {
    const plane = createDataPlane(ctx)
    registerDataPlaneMetrics(ctx.metrics, plane)
    const definitions = createDefinitions(ctx.database)
    const limits = createLimits(ctx.config)
    const refuseFull = createCheckSpaceQuota(ctx.database.sql, limits)
    const tables = createTables(ctx, { plane, definitions, limits, record: changeRecorder(ctx) })
    ctx.dueWork.start(purgeWork(ctx, { plane, tables: tables.aggregate }))
    const sdk = openServiceClient(ctx, 'sdk', validationTimeoutMs)
    const validating = createRecordValidator({ sdk, log: ctx.log })
    const records = createRecordServices(ctx, { plane, definitions, validating, limits, refuseFull })
    const refuseRuled = createRowRuleGuard(ctx.database)
    const queries = createQueries(ctx, plane, { refuseRuled, refuseFull })
    const settings = openServiceClient(ctx, 'settings')
    const requireEnvironment = createRequireEnvironment(settings)
    const migrations = openMigrations(ctx, {
      plane,
      definitions,
      tables: tables.aggregate,
      requireEnvironment,
      refuseRuled,
    })
    return {
      routes: [
        ...tableRoutes(ctx, tables),
        readRulesRoute(ctx),
        ...recordRoutes(records),
        dependentsRoute(ctx.database, [dependentImports]),
        ...queries.routes,
        ...migrations.routes,
        ...validationRoutes(ctx, definitions),
        namesRoute(ctx.database, {
          operationId: 'findTableNames',
          path: '/internal/tables/names',
          summary: 'Find existing tables by slug',
          ...{ callers: ['workflows'], table: 'tables', columns: ['slug'], only: 'kept.purge_at is null' },
        }),
        namesRoute(ctx.database, {
          operationId: 'findQueryNames',
          path: '/internal/queries/names',
          summary: 'Find existing saved queries by id',
          ...{ callers: ['workflows'], table: 'saved_queries', columns: ['id'] },
        }),
      ],
      background: [plane, settings, sdk],
    }
  },
})
