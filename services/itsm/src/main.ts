import { runService } from '@opsplane/runtime'
import { itsm } from './service.js'

runService(itsm)
