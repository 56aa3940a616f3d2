export type { Times } from './cron-times.js'
export { type Begin, type Decided, type Due, decideFires, decideOverlap } from './decide.js'
export { type LocalClock, localClock } from './local-clock.js'
export { previewTimes, type Spec, timesOf } from './times.js'
