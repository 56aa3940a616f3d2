export { type Begin, type Decided, type Due, decideFires, decideOverlap } from './decide.js'
export { previewTimes, type Spec, type Times, timesOf } from './times.js'
