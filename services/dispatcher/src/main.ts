import { runService } from '@opsplane/runtime'
import { loadConfig, start } from './service.js'

runService('dispatcher', () => start(loadConfig(process.env)))
