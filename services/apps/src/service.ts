import { fileURLToPath } from 'node:url'
import { defineService } from '@opsplane/service'
import { app } from './app/domain.js'
import { loadConfig } from './config.js'

export const apps = defineService({
  name: 'apps',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [app],
  setup: () => ({ routes: [] }),
})
