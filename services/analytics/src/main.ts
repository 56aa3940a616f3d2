import { runService } from '@opsplane/runtime'
import { analytics } from './service.js'

runService(analytics)
