import { runService } from '@opsplane/runtime'
import { workflows } from './service.js'

runService(workflows)
