import { fileURLToPath } from 'node:url'
import { defineService } from '@opsplane/service'
import { loadConfig, type StudioConfig } from './config.js'
import { createDataPlane } from './plane/data-plane.js'
import { provisionPlane } from './plane/provision-plane.js'
import { recordRoutes } from './record/record-routes.js'
import { createRecordServices } from './record/record-services.js'
import { createDefinitions } from './table/definitions.js'
import { table } from './table/domain.js'
import { tableRoutes } from './table/routes.js'
import { createTables } from './table/tables.js'

export const databaseStudio = defineService<StudioConfig>({
  name: 'database-studio',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  afterMigrations: provisionPlane,
  deciders: [table],
  setup(ctx) {
    const plane = createDataPlane(ctx)
    const definitions = createDefinitions(ctx.database)
    const tables = createTables(ctx, { plane, definitions })
    const records = createRecordServices(ctx, { plane, definitions })
    return { routes: [...tableRoutes(ctx, tables), ...recordRoutes(records)], background: [plane] }
  },
})
