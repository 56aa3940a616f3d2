import { partDone } from '../frames.js'
import { type Channel, type ChildFailure, openChannel } from './channel.js'
import type { ChildCommand } from './program.js'
import { watchProcess } from './watch-process.js'

/** A request to a child ended without an answer. */
export class ChildFailedError extends Error {
  constructor(
    readonly failure: ChildFailure,
    /** Number of parts of the request that were completed. */
    readonly done: number,
  ) {
    super(`the child process failed: ${failure}`)
  }
}

export interface ChildLimits {
  startMs: number
  /** Maximum resident memory, checked while a request runs. */
  residentBytes: number
  replyBytes: number
}

/** The child exited before it started the request. */
export class NotBegunError extends Error {}

/** A running child process that answers requests one after another. */
export interface Child {
  readonly pid: number
  readonly alive: boolean
  /**
   * The deadline starts when the previous requests are answered. Rejects with `ChildFailedError`, or with `NotBegunError`
   * if the request was still waiting; the child has then exited, or is about to.
   */
  request(text: string, deadlineMs: number): Promise<string>
  /** Resolves when the process has exited. */
  readonly exited: Promise<void>
  kill(): void
}

interface Waiting {
  deadlineMs: number
  /** Number of completed parts. */
  done: number
  unwatch: (() => void) | undefined
  resolve(text: string): void
  reject(error: Error): void
}

/** Starts the program and waits until it is ready. Rejects with `ChildFailedError` if it takes too long or exits. */
export async function startChild(command: ChildCommand, limits: ChildLimits): Promise<Child> {
  const { residentBytes } = limits
  /** The first one is in progress. */
  const line: Waiting[] = []
  const channel: Channel = openChannel(command, limits.replyBytes, {
    // A message without a request means that the child is compromised.
    text: (text) => (line.length > 0 ? receive(text) : channel.end('died')),
    ended(failure) {
      const [first, ...others] = line.splice(0)
      first?.unwatch?.()
      first?.reject(new ChildFailedError(failure, first.done))
      for (const { reject } of others) reject(new NotBegunError())
    },
  })

  const begin = () => {
    const [first] = line
    if (!first) return
    const { deadlineMs } = first
    first.unwatch = watchProcess({ pid: channel.pid, deadlineMs, residentBytes, onPassed: channel.end })
  }
  const receive = (text: string) => {
    const [first] = line
    if (text === partDone) {
      if (first) first.done += 1
      return
    }
    line.shift()
    first?.unwatch?.()
    begin()
    first?.resolve(text)
  }
  const next = (deadlineMs: number): Promise<string> =>
    new Promise((resolve, reject) => {
      if (!channel.alive) return reject(new ChildFailedError('died', 0))
      line.push({ deadlineMs, done: 0, unwatch: undefined, resolve, reject })
      if (line.length === 1) begin()
    })

  await next(limits.startMs)
  return {
    get pid() {
      return channel.pid
    },
    get alive() {
      return channel.alive
    },
    exited: channel.closed,
    request(text, deadlineMs) {
      const answer = next(deadlineMs)
      channel.send(text)
      return answer
    },
    kill: () => channel.end('died'),
  }
}
