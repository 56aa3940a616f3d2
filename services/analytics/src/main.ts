import { setFlagsFromString } from 'node:v8'
import { runService } from '@opsplane/runtime'
import { analytics } from './service.js'

// V8 would let what exports leave behind grow to several times what is in use before it looks for it: ADR 105.
setFlagsFromString('--heap-growing-percent=20')
runService(analytics)
