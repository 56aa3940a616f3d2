import { runService } from '@opsplane/runtime'
import { loadConfig, start } from './service.js'

runService('settings', () => start(loadConfig(process.env)))
