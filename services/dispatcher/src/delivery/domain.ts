import type { AttemptError } from '@opsplane/contracts'
import { computeRetryDelayMs, type DelayJitter, type RetryPolicy } from './record/retry-delay.js'

/** Outcome of an attempt. */
export type AttemptOutcome =
  | { kind: 'answered'; status: number; retryAfterMs?: number | undefined }
  | { kind: 'failed'; error: AttemptError }

/** State of a delivery after an attempt. `delayMs` counts from the end of the attempt. */
export type Verdict =
  | { status: 'succeeded' }
  | { status: 'retrying'; delayMs: number }
  | { status: 'failed'; gone: boolean }

/** 410 Gone: the endpoint asks for no further deliveries. */
const goneStatus = 410
const retryAfterStatuses = new Set([429, 503])

/**
 * Decides the next state after an attempt. `attempt` counts from 1 within the present cycle: a manual retry starts a
 * new cycle. Retry-After is respected for 429 and 503, up to the webhook's maximum delay.
 */
export function decideAfterAttempt(
  outcome: AttemptOutcome,
  policy: RetryPolicy,
  attempt: number,
  chance: DelayJitter = { jitter: 0, random: 0.5 },
): Verdict {
  if (outcome.kind === 'answered' && outcome.status >= 200 && outcome.status < 300)
    return { status: 'succeeded' }
  if (outcome.kind === 'answered' && outcome.status === goneStatus) return { status: 'failed', gone: true }
  if (attempt > policy.retries) return { status: 'failed', gone: false }
  const respectsRetryAfter = outcome.kind === 'answered' && retryAfterStatuses.has(outcome.status)
  const askedMs = respectsRetryAfter ? outcome.retryAfterMs : undefined
  return { status: 'retrying', delayMs: computeRetryDelayMs(policy, attempt, { ...chance, askedMs }) }
}
