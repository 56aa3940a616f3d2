import { partDone } from '../frames.js'
import { type Channel, type ChildFailure, openChannel } from './channel.js'
import type { ChildCommand } from './program.js'
import { watch } from './watch.js'

/** A request to a child ended without an answer. */
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

/** Starts the program and waits until it is ready. Rejects with `ChildFailedError` where that takes too long or it ends. */
export async function startChild(command: ChildCommand, limits: ChildLimits): Promise<Child> {
  const { residentBytes } = limits
  let waiting: { answer: (text: string) => void; fail: (failure: ChildFailure) => void } | undefined
  const channel: Channel = openChannel(command, limits.replyBytes, {
    // What nobody has asked for comes from a child that is no longer ours.
    text: (text) => (waiting ? waiting.answer(text) : channel.end('died')),
    ended: (failure) => waiting?.fail(failure),
  })

  const next = (deadlineMs: number): Promise<string> =>
    new Promise((resolve, reject) => {
      const unwatch = watch({ pid: channel.pid, deadlineMs, residentBytes, onPassed: channel.end })
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
      if (!channel.alive) waiting.fail('died')
    })

  await next(limits.startMs)
  return {
    get pid() {
      return channel.pid
    },
    get alive() {
      return channel.alive
    },
    gone: channel.gone,
    request(text, deadlineMs) {
      const answer = next(deadlineMs)
      channel.send(text)
      return answer
    },
    kill: () => channel.end('died'),
  }
}
