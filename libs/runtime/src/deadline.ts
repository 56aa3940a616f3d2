export interface Deadline {
  /** Aborts when the time is up, or with one of the signals it was begun with. */
  signal: AbortSignal
  clear(): void
}

/**
 * Starts now; its caller clears it. The signal of `AbortSignal.timeout` would not do where it is made one with other signals:
 * Node 20 then holds it weakly only, and once the heap is collected it never comes (nodejs/node #57736).
 */
export function startDeadline(ms: number, ...others: (AbortSignal | undefined)[]): Deadline {
  const ending = new AbortController()
  const end = () => ending.abort(new DOMException('The time is up.', 'TimeoutError'))
  let ends: NodeJS.Immediate | undefined
  // Where the process stood still, it hears first what has arrived meanwhile: timers come before sockets.
  const timer = setTimeout(() => {
    ends = setImmediate(end)
  }, ms)
  timer.unref()
  const signals = [ending.signal, ...others.flatMap((other) => other ?? [])]
  const signal = signals.length === 1 ? ending.signal : AbortSignal.any(signals)
  return {
    signal,
    clear() {
      clearTimeout(timer)
      clearImmediate(ends)
    },
  }
}
