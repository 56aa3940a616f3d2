/** More than the caches of a core hold. */
const memoryBytes = 32 * 1_024 * 1_024
const pageBytes = 4_096
const waitMs = 0.01

/**
 * How much of its time a process that only reads memory waits, in percent: for others that want its core, for interrupts, and for pages that
 * the host of a virtual machine has taken from it, which count as CPU of the reading process and which nothing else in the machine
 * tells of. Some 2 % on a quiet machine. Where it is 20, milliseconds of CPU are that much too many, more so for what uses much memory.
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
