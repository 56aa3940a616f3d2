import { fileURLToPath } from 'node:url'
import { defineService } from '@opsplane/service'
import { loadConfig } from './config.js'
import { workflow } from './workflow/domain.js'

export const workflows = defineService({
  name: 'workflows',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [workflow],
  setup: () => ({ routes: [] }),
})
