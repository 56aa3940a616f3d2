import { cpuMs, residentBytes } from './process-usage.js'

const everyMs = 50
/** A request ends after this multiple of its deadline, even if it received little CPU time. */
const longest = 5

interface WatchedProcess {
  pid: number
  deadlineMs: number
  residentBytes: number
  /** Called with the exceeded limit. */
  onPassed: (limit: 'deadline' | 'memory') => void
}

/**
 * Watches a process that works on a request: its resident memory and its time. If the process received less CPU time
 * than its deadline because the machine is overloaded, it may use the remaining CPU time. Returns a function that ends
 * the watch.
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
      // If this process itself was delayed, it first handles messages that have arrived in the meantime.
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
