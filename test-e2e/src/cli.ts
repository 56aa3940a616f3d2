import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { type CapturedRun, runCaptured } from '@opsplane/cli/captured-run'

const mainFile = fileURLToPath(new URL('../../cli/dist/main.js', import.meta.url))

/** The compiled tool as a process of its own. */
export interface CliProcess {
  child: ChildProcessByStdio<Writable, Readable, Readable>
  stdout(): string
  lines(): string[]
  stderr(): string
  exit: Promise<number | null>
}

/** The tool with these variables and no others but PATH: in this process, where it is not the process that is looked at. */
export function createCliRunner(env: Record<string, string>) {
  const start = (args: readonly string[], input?: string): CliProcess => {
    const child = spawn(process.execPath, [mainFile, ...args], {
      env: { PATH: process.env.PATH, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    const text = { out: '', err: '' }
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text.out += chunk))
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (text.err += chunk))
    // A tool that reads nothing may be gone before its input is written.
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
  /** The same as a process of its own. */
  const runProcess = async (args: readonly string[], input?: string) => {
    const tool = start(args, input)
    const code = await tool.exit
    return { code, stdout: tool.stdout(), stderr: tool.stderr() }
  }
  /** What the tool says with --json. Throws when it fails. */
  const json = async <T>(...args: string[]): Promise<T> => {
    const { code, stdout, stderr } = await run([...args, '--json'])
    if (code !== 0) throw new Error(`opsplane ${args.join(' ')} ended with ${code}: ${stderr}`)
    return JSON.parse(stdout) as T
  }
  return { start, run, runProcess, json }
}
