import { serveTestService } from '@opsplane/testing'
import { itsm } from './service.js'

await serveTestService(itsm)
