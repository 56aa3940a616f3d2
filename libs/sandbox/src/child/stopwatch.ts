let [begun, limitMs, allowed] = [0, 0, 0]
let cpuAtFirst = process.cpuUsage()

/** Starts measuring a request. */
export function beginRequest(timeoutMs: number): void {
  begun = Date.now()
  limitMs = allowed = timeoutMs
  cpuAtFirst = process.cpuUsage()
}

/**
 * Whether the request has used up its time. If this process received less CPU time than the limit because the machine is
 * overloaded, the request may use the remaining CPU time.
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
