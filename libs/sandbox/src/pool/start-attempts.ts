import { type Logger, retryDelayMs } from '@opsplane/runtime'
import { buildChildCommand, type ChildCommand, type ChildProgram } from './program.js'

/** Starts of a program, with a growing delay after each consecutive failure. */
interface StartAttempts {
  command(): ChildCommand
  /** When the next start may be attempted, as `performance.now()`. */
  readonly againAt: number
  succeeded(): void
  /** Returns whether so many starts have failed in a row that requests should not wait for the next one. */
  failed(error: unknown): boolean
}

const maxFailedStarts = 3

export function createStartAttempts(log: Logger, program: ChildProgram): StartAttempts {
  let [failedStarts, againAt] = [0, 0]
  let command: ChildCommand | undefined
  return {
    command() {
      command ??= commandFor(log, program)
      return command
    },
    get againAt() {
      return againAt
    },
    succeeded() {
      failedStarts = 0
    },
    failed(error) {
      failedStarts += 1
      againAt =
        performance.now() +
        retryDelayMs({ attempt: failedStarts, strategy: 'exponential', baseMs: 100, maxMs: 10_000 })
      log.error({ err: error, attempt: failedStarts }, 'could not start a child process')
      return failedStarts >= maxFailedStarts
    },
  }
}

function commandFor(log: Logger, program: ChildProgram): ChildCommand {
  const command = buildChildCommand(program)
  if (process.getuid?.() === 0 && command.identity.uid === undefined)
    log.warn('child processes run as root: there is no user "nobody", or it may not read the program')
  return command
}
