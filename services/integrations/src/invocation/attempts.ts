import type { ConnectorRetry } from '@opsplane/contracts'
import { retryDelayMs } from '@opsplane/runtime'
import type { CallFailure } from '../kind/call-failure.js'

/** Statuses that say nothing against the request itself. */
const passing = new Set([408, 429, 500, 502, 503, 504])

/**
 * Milliseconds until the next attempt; undefined for none. Repeated is what was never sent, and what may be done twice
 * (`repeatable`), unless the other side wants to be asked later than there is time.
 */
export function computeRetryDelayMs(options: {
  policy: ConnectorRetry
  failure: Pick<CallFailure, 'kind' | 'sent' | 'status' | 'retryAfterMs'>
  /** How many were made. */
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
