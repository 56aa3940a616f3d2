import { readFileSync } from 'node:fs'

const pageBytes = 4_096

/** Resident memory of a process, where the system tells it in /proc; 0 elsewhere, and for one that is gone. */
export function residentBytes(pid: number | undefined): number {
  if (process.platform !== 'linux' || pid === undefined) return 0
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * pageBytes
  } catch {
    return 0
  }
}
