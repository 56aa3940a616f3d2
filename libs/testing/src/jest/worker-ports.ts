// Several processes of a run start servers at the same time, each on a port that it found free a moment before: no two
// look in the same place. The pid of the run keeps apart runs on one machine, mostly.
const LOWEST = 12_000
const PER_WORKER = 1_250
const PLACES = 16

/** Where a process of this run looks for free ports; its workers count from 1. */
export function toPortRange(worker: number, runPid: number): string {
  const lowest = LOWEST + ((runPid + worker) % PLACES) * PER_WORKER
  return `${lowest}-${lowest + PER_WORKER - 1}`
}
