/** Does a piece of costly work once there is a permit for it. */
export type Semaphore = <T>(work: () => Promise<T>) => Promise<T>

/**
 * So many permits; whoever finds none waits, in the order they came. Whoever asks for the next piece after the last one is
 * done comes behind all who wait: nobody is refused, and each has as much as any other.
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
