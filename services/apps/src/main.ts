import { runService } from '@opsplane/runtime'
import { apps } from './service.js'

runService(apps)
