/** Does a piece of costly work once it is its turn. */
export type TakeTurn = <T>(work: () => Promise<T>) => Promise<T>

/**
 * So many pieces at once; further ones wait in the order they came. Whoever asks for the next piece after the last one is
 * done comes behind all who wait: nobody is refused, and each has as much as any other.
 */
export function takingTurns(atOnce: number): TakeTurn {
  let underWay = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (underWay < atOnce) underWay++
    else await new Promise<void>((go) => waiting.push(go))
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else underWay--
    }
  }
}
