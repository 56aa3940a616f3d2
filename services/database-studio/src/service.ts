import { fileURLToPath } from 'node:url'
import { defineService } from '@opsplane/service'
import { loadConfig, type StudioConfig } from './config.js'
import { createDataPlane } from './plane/data-plane.js'
import { provisionPlane } from './plane/provision-plane.js'
import { table } from './table/domain.js'

export const databaseStudio = defineService<StudioConfig>({
  name: 'database-studio',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  afterMigrations: provisionPlane,
  deciders: [table],
  setup(ctx) {
    const plane = createDataPlane(ctx)
    return { routes: [], background: [plane] }
  },
})
