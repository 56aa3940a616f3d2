import { runService } from '@opsplane/runtime'
import { loadConfig, start } from './service.js'

runService('itsm', async () => start(loadConfig(process.env)))
