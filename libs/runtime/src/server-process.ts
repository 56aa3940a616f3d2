import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { signalProcess } from './process-table.js'

export { claimDirectory, DirectoryInUseError, releaseDirectory } from './directory-claim.js'
export { freePort } from './free-port.js'
export { findProcess, signalProcess, waitForExit } from './process-table.js'

export interface ServerProcessOptions {
  command: string
  args: string[]
  env?: NodeJS.ProcessEnv
  uid?: number | undefined
  gid?: number | undefined
  /** The signal that makes the server close its files and end. */
  stopSignal: NodeJS.Signals
  onLog?: ((line: string) => void) | undefined
}

export interface ServerProcess {
  readonly pid: number
  /** Resolves, never rejects, with a description of how the process ended. */
  readonly exited: Promise<string>
  readonly running: boolean
  /** The last lines of the server's output, for error messages. */
  logTail(): string
  stop(): Promise<void>
}

const LOG_TAIL_LINES = 20
const LAST_LINES_MS = 250
const STOP_TIMEOUT_MS = 15_000

/**
 * Starts a server program in its own session, so that a terminal's Ctrl-C reaches only the parent, which then
 * stops its servers in its own order. If the parent is killed, the server is stopped as well.
 */
export async function startServerProcess(options: ServerProcessOptions): Promise<ServerProcess> {
  const child = spawn(options.command, options.args, {
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: options.env ?? process.env,
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.gid }),
  })
  await once(child, 'spawn')
  const pid = child.pid as number
  const tail = collectLog(child, options.onLog)
  const guard = startGuard(pid, options.stopSignal)
  const exited = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => {
      // Killed instead of closed: on closing its input the guard would signal a pid that is now free for reuse.
      guard.kill('SIGKILL')
      const outcome = signal ? `killed by ${signal}` : `exit code ${code}`
      // Its last lines may still be in transit, unless surviving children keep the pipe open.
      child.once('close', () => resolve(outcome))
      setTimeout(() => resolve(outcome), LAST_LINES_MS).unref()
    })
  })
  const isRunning = () => child.exitCode === null && child.signalCode === null
  return {
    pid,
    exited,
    get running() {
      return isRunning()
    },
    logTail: () => tail.join('\n'),
    async stop() {
      if (!isRunning()) return
      child.kill(options.stopSignal)
      const overtime = new AbortController()
      const forced = delay(STOP_TIMEOUT_MS, undefined, { signal: overtime.signal }).then(
        () => signalProcess(pid, 'SIGKILL'),
        () => undefined,
      )
      await exited
      overtime.abort()
      await forced
    },
  }
}

function collectLog(child: ChildProcess, onLog: ((line: string) => void) | undefined): string[] {
  const tail: string[] = []
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue
    createInterface({ input: stream }).on('line', (line) => {
      tail.push(line)
      if (tail.length > LOG_TAIL_LINES) tail.shift()
      onLog?.(line)
    })
  }
  return tail
}

/**
 * Sends the process a signal once this process is gone: a killed parent runs no handler, but its pipes close,
 * which the guard waits for. The guard must be killed when the process has ended.
 */
export function startGuard(pid: number, signal: NodeJS.Signals): ChildProcess {
  const script = `while read -r _; do :; done; kill -${signal.replace('SIG', '')} "$1" 2>/dev/null`
  const guard = spawn('sh', ['-c', script, 'guard', String(pid)], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  guard.on('error', () => undefined)
  guard.unref()
  const input = guard.stdin as (typeof guard.stdin & { unref?: () => void }) | null
  input?.on('error', () => undefined)
  input?.unref?.()
  return guard
}
