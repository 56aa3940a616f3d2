import { runService } from '@opsplane/runtime'
import { dispatcher } from './service.js'

runService(dispatcher)
