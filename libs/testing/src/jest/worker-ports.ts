// Several processes of a run start servers concurrently, each on a port it found free a moment before, so each process
// searches a different range. The run's pid separates concurrent runs on one machine in most cases.
const LOWEST = 12_000
const PER_WORKER = 1_250
const PLACES = 16

/** Port range in which a process of this run searches for free ports; workers count from 1. */
export function toPortRange(worker: number, runPid: number): string {
  const lowest = LOWEST + ((runPid + worker) % PLACES) * PER_WORKER
  return `${lowest}-${lowest + PER_WORKER - 1}`
}
