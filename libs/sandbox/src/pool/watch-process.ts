import { cpuMs, residentBytes } from './process-usage.js'

const everyMs = 50
/** However little CPU it gets, a request ends after so many times its deadline. */
const longest = 5

interface WatchedProcess {
  pid: number
  deadlineMs: number
  residentBytes: number
  /** The limit that is passed. */
  onPassed: (limit: 'deadline' | 'memory') => void
}

/**
 * Looks at a process that works on a request: at its resident memory, and for how long it has worked. On a machine with
 * too much to do, where a process has not had the time its deadline gives it, it gets the rest. Returns what ends the watch.
 */
export function watchProcess({ pid, deadlineMs, onPassed, ...limits }: WatchedProcess): () => void {
  const begun = performance.now()
  let cpuAtFirst: number | undefined
  let over = false
  const timer = setInterval(
    () => {
      const elapsed = performance.now() - begun
      const cpu = cpuMs(pid)
      cpuAtFirst ??= cpu
      if ((residentBytes(pid) ?? 0) > limits.residentBytes) onPassed('memory')
      const worked = cpu === undefined || cpuAtFirst === undefined ? elapsed : cpu - cpuAtFirst + 2 * everyMs
      // Where this process was held up itself, it hears first what has arrived meanwhile.
      if (elapsed >= deadlineMs && (worked >= deadlineMs || elapsed >= longest * deadlineMs))
        setImmediate(() => over || onPassed('deadline'))
    },
    Math.min(everyMs, deadlineMs),
  )
  return () => {
    over = true
    clearInterval(timer)
  }
}
