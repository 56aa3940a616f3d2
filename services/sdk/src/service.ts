import { fileURLToPath } from 'node:url'
import { defineService } from '@opsplane/service'
import { loadConfig } from './config.js'
import { pack } from './pack/domain.js'

export const sdk = defineService({
  name: 'sdk',
  loadConfig,
  migrationsDir: fileURLToPath(new URL('../migrations', import.meta.url)),
  deciders: [pack],
  setup: () => ({ routes: [] }),
})
