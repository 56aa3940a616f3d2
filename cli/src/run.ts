import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import type { Io } from './io.js'
import { promptSecret } from './password-prompt.js'
import { runCli } from './program.js'

const { stdin, stdout, stderr } = process
const interrupted = new AbortController()

const io: Io = {
  env: process.env,
  out: (output) => void stdout.write(output),
  write: async (output) => {
    if (!stdout.write(output)) await once(stdout, 'drain')
  },
  err: (output) => void stderr.write(output),
  columns: stdout.isTTY ? stdout.columns : undefined,
  readInput: () => text(stdin),
  askSecret: stdin.isTTY
    ? (question) => promptSecret(stdin, (output) => void stderr.write(output), question)
    : undefined,
  interruption() {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort())
    return interrupted.signal
  },
  nowMs: Date.now,
}

/** Runs the CLI in this process with the given arguments and returns the exit code. */
export function runOpsplane(args: readonly string[]): Promise<number> {
  // The reader of the output, such as `head`, has closed the pipe.
  for (const stream of [stdout, stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1))
  }
  return runCli(args, io)
}
