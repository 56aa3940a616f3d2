import { readFileSync } from 'node:fs'

const pageBytes = 4_096
const tickMs = 10

/** Resident memory of a process, from /proc; `undefined` on other systems, and for a process that has exited. */
export function residentBytes(pid: number): number | undefined {
  const pages = read(`/proc/${pid}/statm`)?.split(' ')[1]
  return pages === undefined ? undefined : Number(pages) * pageBytes
}

/** CPU time of a process so far, from /proc; `undefined` on other systems, and for a process that has exited. */
export function cpuMs(pid: number): number | undefined {
  const stat = read(`/proc/${pid}/stat`)
  // The name in parentheses may contain spaces and parentheses.
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
