import { runService } from '@opsplane/runtime'
import { loadConfig, start } from './service.js'

runService('gateway', async () => start(loadConfig(process.env)))
