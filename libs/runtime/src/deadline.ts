export interface Deadline {
  /** Aborts when the time is up, or with one of the given signals. */
  signal: AbortSignal
  clear(): void
}

/**
 * Starts now; the caller must clear it. `AbortSignal.timeout` is not suitable in combination with other signals:
 * Node 20 references its signal only weakly, so that it never fires after a garbage collection
 * (nodejs/node #57736).
 */
export function startDeadline(ms: number, ...others: (AbortSignal | undefined)[]): Deadline {
  const controller = new AbortController()
  const end = () => controller.abort(new DOMException('The time is up.', 'TimeoutError'))
  let ends: NodeJS.Immediate | undefined
  // After the process was blocked, messages that have arrived meanwhile are processed first: timers run before
  // sockets.
  const timer = setTimeout(() => {
    ends = setImmediate(end)
  }, ms)
  timer.unref()
  const signals = [controller.signal, ...others.flatMap((other) => other ?? [])]
  const signal = signals.length === 1 ? controller.signal : AbortSignal.any(signals)
  return {
    signal,
    clear() {
      clearTimeout(timer)
      clearImmediate(ends)
    },
  }
}
