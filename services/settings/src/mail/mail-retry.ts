import { retryDelayMs } from '@opsplane/runtime'

/** For so long after the event a mail about it is of use; afterwards it is given up. */
export const mailWorthMs = 24 * 3_600_000

/** What becomes of a mail whose attempt failed. */
export type AfterFailure = { status: 'pending'; dueAt: number } | { status: 'failed' }

/** Tries again after 30 s, 1 min, 2 min, … at most an hour apart, as long as it is worth it. */
export function afterFailure(attempts: number, giveUpAt: number, nowMs: number): AfterFailure {
  const dueAt =
    nowMs + retryDelayMs({ attempt: attempts, strategy: 'exponential', baseMs: 30_000, maxMs: 3_600_000 })
  return dueAt < giveUpAt ? { status: 'pending', dueAt } : { status: 'failed' }
}
