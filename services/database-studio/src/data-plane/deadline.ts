import { ApiError } from '@opsplane/contracts'

export interface Deadline {
  deadlineMs: number
  /** Aborts when the caller has disconnected. */
  signal?: AbortSignal
}

/** Milliseconds that a cancelled statement may take to stop before its session is ended. */
const graceMs = 1_000

/**
 * Runs `work`, and calls `end` when the deadline passes or the signal aborts: first to cancel, then to end the session.
 * Rejects with the error of `work`, or with `upstream_timeout` if the deadline caused it.
 */
export async function runWithDeadline<T>(
  { deadlineMs, signal }: Deadline,
  end: (hard: boolean) => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  let expired = false
  let harder: NodeJS.Timeout | undefined
  // A failed cancel request is ignored: the hard end follows after `graceMs`.
  const stop = () => {
    harder ??= setTimeout(() => void end(true).catch(() => {}), graceMs)
    void end(false).catch(() => {})
  }
  const timer = setTimeout(() => {
    expired = true
    stop()
  }, deadlineMs)
  signal?.addEventListener('abort', stop)
  if (signal?.aborted) stop()
  try {
    return await work()
  } catch (error) {
    if (!expired) throw error
    throw new ApiError('upstream_timeout', `The statement was stopped after ${deadlineMs} ms.`, {
      cause: error,
    })
  } finally {
    clearTimeout(timer)
    clearTimeout(harder)
    signal?.removeEventListener('abort', stop)
  }
}
