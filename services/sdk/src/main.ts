import { runService } from '@opsplane/runtime'
import { sdk } from './service.js'

runService(sdk)
