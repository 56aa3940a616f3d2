import type { RetryStrategy } from '@opsplane/contracts'
import { retryDelayMs } from '@opsplane/runtime'

/** What of a webhook decides how often and when a delivery is tried. */
export interface RetryPolicy {
  retries: number
  retryStrategy: RetryStrategy
  retryMaxDelayMs: number
  /** Seconds before each retry; the last one repeats. */
  retrySchedule: readonly number[] | null
}

const exponentialBaseMs = 2_000
const fixedDelayMs = 5_000

export interface DelayJitter {
  /** Share of a delay that is random. */
  jitter: number
  /** In [0, 1). */
  random: number
}

/**
 * Milliseconds to wait before the given retry (1 is the first): by the webhook's schedule, or its strategy; at
 * least what the endpoint asked for (`askedMs`), as far as the webhook's longest delay allows.
 */
export function computeRetryDelayMs(
  policy: RetryPolicy,
  retry: number,
  { jitter, random, askedMs = 0 }: DelayJitter & { askedMs?: number | undefined },
): number {
  const { retrySchedule, retryStrategy, retryMaxDelayMs } = policy
  const scheduled = retrySchedule?.[Math.min(retry, retrySchedule.length) - 1]
  const planned =
    scheduled === undefined
      ? { strategy: retryStrategy, baseMs: baseMs(retryStrategy), maxMs: retryMaxDelayMs }
      : // A schedule says exactly what is wanted, so the cap is not for it.
        { strategy: 'fixed' as const, baseMs: scheduled * 1_000, maxMs: scheduled * 1_000 }
  const waitMs = retryDelayMs({ attempt: retry, ...planned, jitter, random })
  return Math.max(waitMs, Math.min(askedMs, retryMaxDelayMs))
}

function baseMs(strategy: RetryStrategy): number {
  return strategy === 'fixed' ? fixedDelayMs : exponentialBaseMs
}
