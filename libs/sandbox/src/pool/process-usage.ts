import { readFileSync } from 'node:fs'

const pageBytes = 4_096
const tickMs = 10

/** Resident memory of a process, where the system tells it in /proc; undefined elsewhere, and for one that is gone. */
export function residentBytes(pid: number): number | undefined {
  const pages = read(`/proc/${pid}/statm`)?.split(' ')[1]
  return pages === undefined ? undefined : Number(pages) * pageBytes
}

/** CPU a process has used so far, where the system tells it in /proc; undefined elsewhere, and for one that is gone. */
export function cpuMs(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`)
  // The name in parentheses may itself hold spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields ? (Number(fields[11]) + Number(fields[12])) * tickMs : undefined
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
