/** Does a piece of costly work once there is a permit for it. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>

/**
 * So many permits; without a free one callers wait, in order of arrival. A caller that asks for its next piece after the last one is
 * done queues behind all who wait: none is refused, and all get equal shares.
 */
export function createSemaphore(permits: number): Semaphore {
  let taken = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (taken < permits) taken++
    else await new Promise<void>((go) => waiting.push(go))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else taken--
    }
  }
}
