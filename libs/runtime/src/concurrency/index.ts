export { type ConcurrencyLimiter, createConcurrencyLimiter } from './concurrency-limiter.js'
export { createFairQueue } from './fair-queue.js'
export { createKeyedCounts } from './keyed-counts.js'
export { createKeyedSemaphore, createSemaphore, type Semaphore } from './semaphore.js'
