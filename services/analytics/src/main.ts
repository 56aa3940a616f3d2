import { runService } from '@opsplane/runtime'
import { boundHeap } from './export/tight-heap.js'
import { analytics } from './service.js'

boundHeap()
runService(analytics)
