import { runCli } from './program.js'

export interface CapturedRun {
  code: number
  stdout: string
  stderr: string
}

/** Runs the CLI in this process with pipes for input and output, and returns its exit code and output. Never throws. */
export async function runCaptured(
  args: readonly string[],
  {
    env,
    input = '',
    nowMs = Date.now,
  }: { env: Record<string, string | undefined>; input?: string | undefined; nowMs?: () => number },
): Promise<CapturedRun> {
  let stdout = ''
  let stderr = ''
  const out = (text: string) => {
    stdout += text
  }
  const code = await runCli(args, {
    env,
    out,
    write: async (text) => out(text),
    err: (text) => {
      stderr += text
    },
    columns: undefined,
    readInput: async () => input,
    askSecret: undefined,
    interruption: () => new AbortController().signal,
    nowMs,
  })
  return { code, stdout, stderr }
}
