export type { Times } from './cron-times.js'
export {
  type DueFires,
  decideFires,
  decideOverlap,
  type FireDecision,
  type OverlapDecision,
} from './decide.js'
export { type LocalClock, localClock } from './local-clock.js'
export { instantIn, startOfDay } from './moments.js'
export { createTimes, previewTimes, type Spec } from './times.js'
