import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { currentTestFile, followCurrentTest } from './current-test.js'
import { findLimits } from './limits.js'

export interface WaitForOptions {
  /** Between two looks, for what is there for a moment only; unless given it grows with the wait. */
  intervalMs?: number
  /** What is waited for, for the error. */
  message?: string
}

const [leastMs, maxMs, partOfWait] = [20, 250, 0.05]

/** How long to pause before the next look: what took long may be seen a little later, and each look costs what it asks. */
export const pauseAfter = (waitedMs: number): number =>
  Math.max(leastMs, Math.min(maxMs, waitedMs * partOfWait))

type Check<T> = () => T | undefined | false | null | Promise<T | undefined | false | null>

/**
 * Repeats a check until it returns something truthy, and returns that. A check that throws counts as not yet, so assertions
 * can be waited for. It fails with what it saw last, at the limit of its kind of test, which is for what never comes, also
 * on a slow and busy machine; it goes on no longer than the test it is in.
 */
export const waitFor = <T>(check: Check<T>, options?: WaitForOptions): Promise<T> =>
  waitWithin(findLimits(currentTestFile()).waitMs, check, options)

/** The same with a limit of its own, for what bounds whole runs. */
export async function waitWithin<T>(
  limitMs: number,
  check: Check<T>,
  { intervalMs, message = 'the condition' }: WaitForOptions = {},
): Promise<T> {
  const startedAt = performance.now()
  const test = followCurrentTest()
  const failure = (why: string, last: string, cause: unknown) => {
    const waitedMs = Math.round(performance.now() - startedAt)
    return new Error(`${why} ${waitedMs} ms for ${message}; ${last}`, { cause })
  }
  let [last, cause]: [string, unknown] = ['not looked yet', undefined]
  try {
    for (;;) {
      try {
        const value = await check()
        if (value) return value
        ;[last, cause] = [`last value: ${inspect(value)}`, undefined]
      } catch (error) {
        ;[last, cause] = [`last error: ${error instanceof Error ? error.message : inspect(error)}`, error]
      }
      if (test.isOver()) throw failure('The test ended after a wait of', last, cause)
      const waitedMs = performance.now() - startedAt
      if (waitedMs >= limitMs) throw failure('Waited', last, cause)
      await delay(intervalMs ?? pauseAfter(waitedMs))
    }
  } finally {
    test.release()
  }
}
