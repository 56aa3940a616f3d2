import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'
import { currentTestFile, followCurrentTest } from './current-test.js'
import { findLimits } from './limits.js'

export interface WaitForOptions {
  /** Interval of checks, for short-lived states; default: grows with the wait. */
  intervalMs?: number
  /** Describes the awaited condition in the error. */
  message?: string
}

const [leastMs, maxMs, partOfWait] = [20, 250, 0.05]

/** Pause before the next check: it grows with the wait, as each check has a cost and a long wait tolerates more delay. */
export const pauseAfter = (waitedMs: number): number =>
  Math.max(leastMs, Math.min(maxMs, waitedMs * partOfWait))

type Check<T> = () => T | undefined | false | null | Promise<T | undefined | false | null>

/**
 * Repeats a check until it returns a truthy value, and returns that. A check that throws counts as not yet fulfilled,
 * so assertions can be used. Fails with the last value or error at the timeout of its kind of test, which is generous
 * enough for a slow and busy machine. Stops when its test has ended.
 */
export const waitFor = <T>(check: Check<T>, options?: WaitForOptions): Promise<T> =>
  waitWithin(findLimits(currentTestFile()).waitMs, check, options)

/** Like `waitFor` with an explicit timeout, for whole runs. */
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
