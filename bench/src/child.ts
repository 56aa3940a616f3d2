import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { endWithBench } from './ending.js'

/** Starts another file of this folder as a child process, which reports its port first. */
export async function startChild(
  file: string,
  env: Record<string, string>,
): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { env: { ...process.env, ...env } })
  endWithBench(file, () => void child.kill())
  const { port } = await messageOf<{ port: number }>(child)
  return { child, port }
}

/** The next message of a child process. Rejects if the child exits first. */
async function messageOf<Message>(child: ChildProcess): Promise<Message> {
  const over = new AbortController()
  const { signal } = over
  const exited = once(child, 'exit', { signal }).then(([code, reason]) => {
    throw new Error(`A process of the bench has ended: ${code ?? reason}`)
  })
  try {
    const [message] = await Promise.race([once(child, 'message', { signal }), exited])
    return message as Message
  } finally {
    exited.catch(() => {})
    over.abort()
  }
}

/** Sends one question to a child process and resolves with its answer. Rejects if the child exits first. */
export async function requestFromChild<Answer>(child: ChildProcess, question: string): Promise<Answer> {
  const answer = messageOf<Answer>(child)
  child.send(question)
  return answer
}

/** CPU time a process has used so far, user and system, in milliseconds (Linux). */
export function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  const ticksPerSecond = 100
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1000
}

export function percentile(values: number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
