import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type CapturedRun, runCaptured } from '@opsplane/cli/captured-run'

const mainFile = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url))

/** The compiled command-line tool as a separate process. */
export interface CliProcess {
  child: ChildProcessByStdio<Writable, Readable, Readable>
  stdout(): string
  lines(): string[]
  stderr(): string
  exit: Promise<number | null>
}

/** Runs the tool with only these variables and PATH: in this process, unless the process itself is under test. */
export function createCliRunner(env: Record<string, string>) {
  const start = (args: readonly string[], input?: string): CliProcess => {
    const child = spawn(process.execPath, [mainFile, ...args], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const text = { out: '', err: '' }
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text.out += chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.err += chunk))
    // A tool that reads no input may exit before its input is written.
    child.stdin.on('error', () => {}).end(input)
    return {
      child,
      stdout: () => text.out,
      lines: () => text.out.split('\n').slice(0, -1),
      stderr: () => text.err,
      exit: once(child, 'close').then(([code]) => code as number | null),
    }
  }
  const run = (args: readonly string[], input?: string): Promise<CapturedRun> =>
    runCaptured(args, { env: { PATH: process.env.PATH, ...env }, input })
  /** Same, as a separate process. */
  const runProcess = async (args: readonly string[], input?: string) => {
    const tool = start(args, input)
    const code = await tool.exit
    return { code, stdout: tool.stdout(), stderr: tool.stderr() }
  }
  /** Output of the tool with --json. Throws if it fails. */
  const json = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await run([...args, '--json'])
    if (code !== 0) throw new Error(`opsplane ${args.join(' ')} ended with ${code}: ${stderr}`)
    return JSON.parse(stdout) as T
  }
  return { start, run, runProcess, json }
}
