import { runService } from '@opsplane/runtime'
import { databaseStudio } from './service.js'

runService(databaseStudio)
