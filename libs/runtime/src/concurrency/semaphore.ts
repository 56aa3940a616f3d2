/** Does a piece of costly work once there is a permit for it. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>

/** The same with permits of each key: work of different keys does not wait for each other. */
export type KeyedSemaphore = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** The most that may wait; what exceeds it is rejected with the refusal. */
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
      // A permit is passed on, so that those who wait come before those who come later.
      const next = waiting.shift()
      if (next) next()
      else if (--place.taken === 0) keys.delete(key)
    }
  }
}

/**
 * So many permits; without a free one callers wait, in order of arrival. A caller that asks for its next piece after the last one is
 * done queues behind all who wait: all get equal shares.
 */
export function createSemaphore(permits: number, limit?: WaitingLimit): Semaphore {
  const run = createKeyedSemaphore(permits, limit)
  return (work) => run('', work)
}
