/** More than fits into the caches of a core. */
const memoryBytes = 32 * 1_024 * 1_024
const pageBytes = 4_096
const waitMs = 0.01

/**
 * Share of time, in percent, that a process which only reads memory has to wait: for other processes on its core,
 * for interrupts, and for pages that the host of a virtual machine has reclaimed. Those waits count as CPU time of
 * the reading process, and no other metric of the machine shows them. About 2 % on a quiet machine. At 20 %, CPU
 * milliseconds are too high by that share, and by more for processes that use much memory.
 */
export function disturbedPercent(forMs = 1_000): number {
  const memory = Buffer.alloc(memoryBytes, 1)
  let waitedMs = 0
  let sum = 0
  const startedAt = performance.now()
  let before = startedAt
  for (let at = 0; before < startedAt + forMs; at = (at + pageBytes) % memoryBytes) {
    sum += memory[at] ?? 0
    const now = performance.now()
    if (now - before > waitMs) waitedMs += now - before
    before = now
  }
  return sum > 0 ? (waitedMs / forMs) * 100 : 0
}
