import { delay, retryDelayMs } from '@opsplane/runtime'
import { CliError, isRetryable } from './failure.js'

const retryTiming = { strategy: 'exponential', baseMs: 500, maxMs: 30_000 } as const

/**
 * Repeats `step` until it returns false or the signal aborts. A retryable error is reported and retried with backoff;
 * any other error is thrown.
 */
export async function follow(
  step: () => Promise<boolean>,
  { signal, say }: { signal: AbortSignal; say(line: string): void },
): Promise<void> {
  for (let failures = 0; !signal.aborted; ) {
    try {
      if (!(await step())) return
      failures = 0
    } catch (error) {
      if (signal.aborted) return
      if (!(error instanceof CliError) || !isRetryable(error)) throw error
      const waitMs = retryDelayMs({ attempt: ++failures, ...retryTiming })
      say(`${error.message}; trying again in ${waitMs / 1_000} s`)
      await delay(waitMs, signal)
    }
  }
}
