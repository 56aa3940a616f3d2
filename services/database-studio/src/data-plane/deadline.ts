import { ApiError } from '@opsplane/contracts'

export interface Deadline {
  deadlineMs: number
  /** Aborts when the caller has gone. */
  signal?: AbortSignal
}

/** How long what was cancelled may take to stop before its session is ended. */
const graceMs = 1_000

/**
 * Runs `work`, and `end` when its time is up or its signal aborts: first softly, then hard. Rejects with what `work`
 * rejects with, or `upstream_timeout` where that came of the deadline.
 */
export async function runWithDeadline<T>(
  { deadlineMs, signal }: Deadline,
  end: (hard: boolean) => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  let expired = false
  let harder: NodeJS.Timeout | undefined
  // What cannot be asked of the server now is asked again, harder.
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
