import { runService } from '@opsplane/runtime'
import { loadConfig, start } from './service.js'

runService('itsm', () => start(loadConfig(process.env)))
