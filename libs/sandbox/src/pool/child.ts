import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket } from 'node:net'
import { startGuard } from '@opsplane/runtime/server-process'
import { frame, frameReader, partDone } from '../frames.js'
import type { ChildCommand } from './program.js'
import { watch } from './watch.js'

/** How a request to a child ended without an answer; `crashed` by what it did, `died` by what others did. */
export type ChildFailure = 'deadline' | 'memory' | 'too_large' | 'crashed' | 'died'

export class ChildFailedError extends Error {
  constructor(
    readonly failure: ChildFailure,
    /** Parts of the request it had done by then. */
    readonly done: number,
  ) {
    super(`the child process failed: ${failure}`)
  }
}

export interface ChildLimits {
  startMs: number
  /** Resident memory, looked at while a request takes its time. */
  residentBytes: number
  replyBytes: number
}

/** A running child process, which answers one request at a time. */
export interface Child {
  readonly pid: number
  readonly alive: boolean
  /** Rejects with `ChildFailedError`; the child is dead then, or soon will be. */
  request(text: string, deadlineMs: number): Promise<string>
  /** Resolves when it is gone. */
  readonly gone: Promise<void>
  kill(): void
}

/** How V8 ends when its heap is full, or something in it larger than can be. */
const crashes = new Set<NodeJS.Signals>(['SIGABRT', 'SIGTRAP', 'SIGILL', 'SIGSEGV'])

function failureOf(code: number | null, signal: NodeJS.Signals | null): ChildFailure {
  if (signal !== null && crashes.has(signal)) return 'memory'
  return code === null ? 'died' : 'crashed'
}

/** Starts the program and waits until it is ready. Rejects with `ChildFailedError` where that takes too long or it ends. */
export async function startChild(
  { command, args, identity }: ChildCommand,
  limits: ChildLimits,
): Promise<Child> {
  const process = spawn(command, args, {
    // A terminal's Ctrl-C is for the parent, which then closes its children when it wants.
    detached: true,
    env: {},
    cwd: '/',
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    ...identity,
  })
  const child = channelOf(process, limits)
  if (process.pid !== undefined) {
    // One that computes without end does not notice that its parent is gone.
    const guard = startGuard(process.pid, 'SIGKILL')
    void child.gone.then(() => guard.kill('SIGKILL'))
  }
  await child.next(limits.startMs)
  return child
}

function channelOf(process: ChildProcess, limits: ChildLimits) {
  const pipe = process.stdio[3] as Socket
  const read = frameReader(limits.replyBytes)
  let waiting: { answer: (text: string) => void; fail: (failure: ChildFailure) => void } | undefined
  let alive = true

  const end = (failure: ChildFailure) => {
    if (alive) {
      alive = false
      process.kill('SIGKILL')
    }
    waiting?.fail(failure)
  }
  pipe.on('data', (chunk: Buffer) => {
    try {
      // What nobody has asked for comes from a child that is no longer ours.
      for (const text of read(chunk)) waiting ? waiting.answer(text) : end('died')
    } catch {
      end('too_large')
    }
  })
  pipe.on('error', () => end('died'))
  process.on('error', () => end('died'))
  const gone = new Promise<void>((resolve) => {
    const ended = (code: number | null, signal: NodeJS.Signals | null) => {
      end(failureOf(code, signal))
      pipe.destroy()
      resolve()
    }
    process.once('exit', ended)
    process.once('error', () => process.pid === undefined && ended(null, null))
  })

  const next = (deadlineMs: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const { residentBytes } = limits
      const unwatch = watch({ pid: process.pid ?? 0, deadlineMs, residentBytes, onPassed: end })
      let done = 0
      const settle = () => {
        unwatch()
        waiting = undefined
      }
      waiting = {
        answer: (text) => {
          if (text === partDone) {
            done += 1
            return
          }
          settle()
          resolve(text)
        },
        fail: (failure) => {
          settle()
          reject(new ChildFailedError(failure, done))
        },
      }
      if (!alive) end('died')
    })

  return {
    get pid() {
      return process.pid ?? 0
    },
    get alive() {
      return alive
    },
    gone,
    next,
    request(text: string, deadlineMs: number) {
      const answer = next(deadlineMs)
      if (alive) pipe.write(frame(text))
      return answer
    },
    kill: () => end('died'),
  }
}
