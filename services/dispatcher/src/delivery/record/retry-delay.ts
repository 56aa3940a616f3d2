import type { RetryStrategy } from '@opsplane/contracts'
import { retryDelayMs } from '@opsplane/runtime'

/** The settings of a webhook that determine the number and times of attempts. */
export interface RetryPolicy {
  retries: number
  retryStrategy: RetryStrategy
  retryMaxDelayMs: number
  /** Seconds before each retry; the last value repeats. */
  retrySchedule: readonly number[] | null
}

const exponentialBaseMs = 2_000
const fixedDelayMs = 5_000

export interface DelayJitter {
  /** Random share of a delay. */
  jitter: number
  /** In [0, 1). */
  random: number
}

/**
 * Milliseconds before the given retry (1 is the first), by the webhook's schedule or strategy. At least the delay
 * requested by the endpoint (`askedMs`), as far as the webhook's maximum delay permits.
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
      : // A schedule states exact delays, so the maximum delay does not apply.
        { strategy: 'fixed' as const, baseMs: scheduled * 1_000, maxMs: scheduled * 1_000 }
  const waitMs = retryDelayMs({ attempt: retry, ...planned, jitter, random })
  return Math.max(waitMs, Math.min(askedMs, retryMaxDelayMs))
}

function baseMs(strategy: RetryStrategy): number {
  return strategy === 'fixed' ? fixedDelayMs : exponentialBaseMs
}
