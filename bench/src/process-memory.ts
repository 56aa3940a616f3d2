import { readFileSync } from 'node:fs'

/** Resident memory of two processes in MB (Linux). */
export function residentMb([first, second]: [number | undefined, number | undefined]): [number, number] {
  return [residentMbOf(first), residentMbOf(second)]
}

function residentMbOf(pid = 0): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

/** Maximum number of files, including sockets, that a process may open (Linux). */
export function openFiles(): number {
  return Number(/Max open files\s+\d+\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
}
