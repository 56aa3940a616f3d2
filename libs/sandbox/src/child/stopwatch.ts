let [begun, limitMs, allowed] = [0, 0, 0]
let cpuAtFirst = process.cpuUsage()

/** Counts from now on how long a request takes. */
export function beginRequest(timeoutMs: number): void {
  begun = Date.now()
  limitMs = allowed = timeoutMs
  cpuAtFirst = process.cpuUsage()
}

/**
 * Whether the request has had its time. On a machine with too much to do, where this process has not had it when it is
 * over, it gets the rest.
 */
export function isOverdue(): boolean {
  const elapsed = Date.now() - begun
  if (elapsed <= allowed) return false
  const { user, system } = process.cpuUsage(cpuAtFirst)
  const left = limitMs - (user + system) / 1_000
  if (left < 1) return true
  allowed = elapsed + left
  return false
}
