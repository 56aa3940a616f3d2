import { runService } from '@opsplane/runtime'
import { gateway } from './service.js'

runService(gateway)
