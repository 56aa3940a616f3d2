import { createKeyedCounts } from './keyed-counts.js'

/** Rejects work beyond the share of its key; nothing waits. Rejecting costs almost nothing, unlike queueing. */
export interface ConcurrencyLimiter {
  /** Occupies an amount until the returned function is called. Throws the refusal. */
  acquire(key: string, amount?: number): () => void
  /** Like `acquire`, but returns `undefined` if the share is used up. */
  tryAcquire(key: string, amount?: number): (() => void) | undefined
  /** Runs `work` within the share of its key. Rejects with the refusal. */
  run<T>(key: string, work: () => Promise<T>): Promise<T>
  /** Like `run` for a stream: occupied from the first item until its reader is done. */
  stream<T>(key: string, items: () => AsyncIterable<T>): AsyncGenerator<T>
}

interface ConcurrencyLimiterOptions {
  perKey: number | ((key: string) => number)
  /** Limit for all keys together. */
  total?: number
  refusal(max: number): Error
}

export function createConcurrencyLimiter(options: ConcurrencyLimiterOptions): ConcurrencyLimiter {
  const { perKey, total = Number.POSITIVE_INFINITY, refusal } = options
  const inFlight = createKeyedCounts()
  const maxOf = (key: string) => (typeof perKey === 'number' ? perKey : perKey(key))

  const tryAcquire: ConcurrencyLimiter['tryAcquire'] = (key, amount = 1) => {
    if (inFlight.of(key) + amount > maxOf(key) || inFlight.total + amount > total) return undefined
    inFlight.add(key, amount)
    let released = false
    return () => {
      if (!released) inFlight.add(key, -amount)
      released = true
    }
  }
  const acquire: ConcurrencyLimiter['acquire'] = (key, amount) => {
    const release = tryAcquire(key, amount)
    if (!release) throw refusal(maxOf(key))
    return release
  }

  return {
    acquire,
    tryAcquire,
    async run(key, work) {
      const release = acquire(key)
      try {
        return await work()
      } finally {
        release()
      }
    },
    async *stream(key, items) {
      const release = acquire(key)
      try {
        yield* items()
      } finally {
        release()
      }
    },
  }
}
