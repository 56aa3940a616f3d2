export interface Deadline {
  /** Aborts when the time is up. */
  signal: AbortSignal
  clear(): void
}

/**
 * Begins now; whoever began it clears it. That of `AbortSignal.timeout` would not do where it is made one with other signals:
 * Node 20 then holds it weakly only, and once the heap is collected it never comes (nodejs/node #57736).
 */
export function startDeadline(ms: number): Deadline {
  const ending = new AbortController()
  const timer = setTimeout(() => ending.abort(new DOMException('The time is up.', 'TimeoutError')), ms)
  timer.unref()
  return { signal: ending.signal, clear: () => clearTimeout(timer) }
}
