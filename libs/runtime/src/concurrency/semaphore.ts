/** Runs expensive work once a permit is free. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>

/** Like Semaphore with separate permits for each key: work of different keys does not wait for each other. */
export type KeyedSemaphore = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** Maximum number of waiting callers; further ones are rejected with the refusal. */
interface WaitingLimit {
  max: number
  refusal(): Error
}

export function createKeyedSemaphore(permits: number, limit?: WaitingLimit): KeyedSemaphore {
  const keys = new Map<string, { taken: number; waiting: (() => void)[] }>()
  return async (key, work) => {
    let place = keys.get(key)
    if (!place) {
      place = { taken: 0, waiting: [] }
      keys.set(key, place)
    }
    const { waiting } = place
    if (place.taken < permits) place.taken++
    else if (limit && waiting.length >= limit.max) throw limit.refusal()
    else await new Promise<void>((resume) => waiting.push(resume))
    try {
      return await work()
    } finally {
      // The permit is passed on, so that waiting callers come before later ones.
      const next = waiting.shift()
      if (next) next()
      else if (--place.taken === 0) keys.delete(key)
    }
  }
}

/**
 * Limits concurrency to `permits`. Without a free permit callers wait, in order of arrival. A caller that submits
 * its next piece of work only after the last one is done queues behind all waiting callers, so all get equal
 * shares.
 */
export function createSemaphore(permits: number, limit?: WaitingLimit): Semaphore {
  const run = createKeyedSemaphore(permits, limit)
  return (work) => run('', work)
}
