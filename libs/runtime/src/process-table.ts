import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

/** A process as listed by the operating system. */
export interface ProcessEntry {
  pid: number
  parentPid: number
  commandLine: string
}

/** Looks up a live process; `undefined` if it is gone, or a zombie. */
export function findProcess(pid: number): ProcessEntry | undefined {
  return process.platform === 'linux' ? fromProc(pid) : fromPs(pid)
}

/** Waits until the process is gone; `false` if it still exists after the time. */
export async function waitForExit(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  while (findProcess(pid) !== undefined) {
    if (Date.now() > deadline) return false
    await delay(25)
  }
  return true
}

/** Sends a signal; a process that is already gone is not an error. */
export function signalProcess(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

// Slim images have no `ps`, so Linux is read from /proc.
function fromProc(pid: number): ProcessEntry | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name in parentheses may itself contain spaces and parentheses.
    const [state, parentPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (state === 'Z' || state === 'X') return undefined
    const commandLine = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
    return { pid, parentPid: Number(parentPid), commandLine }
  } catch {
    return undefined
  }
}

function fromPs(pid: number): ProcessEntry | undefined {
  try {
    const line = execFileSync('ps', ['-o', 'ppid=,state=,command=', '-p', String(pid)], { encoding: 'utf8' })
    const [, parentPid, state, commandLine] = /^\s*(\d+)\s+(\S+)\s+(.*)$/m.exec(line) ?? []
    if (commandLine === undefined || state?.startsWith('Z')) return undefined
    return { pid, parentPid: Number(parentPid), commandLine }
  } catch {
    return undefined
  }
}
