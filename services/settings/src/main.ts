import { runService } from '@opsplane/runtime'
import { settings } from './service.js'

runService(settings)
