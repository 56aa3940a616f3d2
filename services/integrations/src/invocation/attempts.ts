import type { ConnectorRetry } from '@opsplane/contracts'
import { retryDelayMs } from '@opsplane/runtime'
import type { CallFailure } from '../kind/call-failure.js'

/** Statuses that do not mean that the request itself is wrong. */
const passing = new Set([408, 429, 500, 502, 503, 504])

/**
 * Milliseconds until the next attempt; `undefined` for no retry. Retries requests that were never sent, and requests
 * that may be performed twice (`repeatable`), unless the upstream's retry delay exceeds the remaining time.
 */
export function computeRetryDelayMs(options: {
  policy: ConnectorRetry
  failure: Pick<CallFailure, 'kind' | 'sent' | 'status' | 'retryAfterMs'>
  /** Number of attempts made so far. */
  attempts: number
  repeatable: boolean
  remainingMs: number
}): number | undefined {
  const { policy, failure, attempts, repeatable, remainingMs } = options
  const { attempts: most, delayMs: baseMs, maxDelayMs: maxMs } = policy
  if (attempts >= most || !mayPass(failure) || (failure.sent && !repeatable)) return undefined
  const planned = retryDelayMs({ attempt: attempts, strategy: 'exponential', baseMs, maxMs })
  const waitMs = Math.max(planned, failure.retryAfterMs ?? 0)
  return waitMs < remainingMs ? waitMs : undefined
}

function mayPass({ kind, status = 0 }: Pick<CallFailure, 'kind' | 'status'>): boolean {
  return kind === 'unreachable' || (kind === 'answered' && passing.has(status))
}
