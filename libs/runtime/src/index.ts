export * from './clock.js'
export * from './concurrency/index.js'
export * from './config.js'
export * from './cursor.js'
export * from './deadline.js'
export * from './hash.js'
export * from './heap-growth.js'
export * from './idle-ticks.js'
export * from './join-chunks.js'
export * from './lifecycle.js'
export * from './logger.js'
export * from './masking.js'
export * from './network.js'
export * from './one-line.js'
export * from './pair-key.js'
export * from './quota/index.js'
export * from './recent-keys.js'
export * from './redaction.js'
export * from './retry-delay.js'
export {
  createTimes,
  decideFires,
  decideOverlap,
  instantIn,
  type LocalClock,
  localClock,
  type OverlapDecision,
  startOfDay,
} from './schedule/index.js'
export {
  createSealer,
  type DataKey,
  masterKeyId,
  parseKeyGeneration,
  type Sealer,
  type WrappedDataKey,
  wrappingKeyId,
} from './sealing.js'
export * from './slices.js'
export * from './timers.js'
export * from './zone.js'
