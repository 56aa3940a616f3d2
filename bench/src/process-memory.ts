import { readFileSync } from 'node:fs'

/** Resident memory of each of two processes in MB (Linux). */
export function residentMb([first, second]: [number | undefined, number | undefined]): [number, number] {
  return [residentMbOf(first), residentMbOf(second)]
}

function residentMbOf(pid = 0): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}

/** How many files, sockets included, a process may have open (Linux). */
export function openFiles(): number {
  return Number(/Max open files\s+\d+\s+(\d+)/.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1])
}
