import { runService } from '@opsplane/runtime'
import { integrations } from './service.js'

runService(integrations)
