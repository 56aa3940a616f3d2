import { fileURLToPath } from 'node:url'
import { defineService } from '@opsplane/service'
import { loadConfig } from './config.js'
import { report } from './report/domain.js'

export const analytics = defineService({
  name: 'analytics',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [report],
  setup: () => ({ routes: [] }),
})
