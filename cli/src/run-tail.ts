import { Run } from '@opsplane/contracts'
import { delay } from '@opsplane/runtime'
import type { Api, Call } from './api.js'
import { follow } from './follow.js'

export interface RunTailOptions {
  api: Api
  query: NonNullable<Call['query']>
  /** Starts with runs from this instant; if absent, only new runs are reported. */
  since?: string | undefined
  signal: AbortSignal
  say(line: string): void
  /** Called once for each run, oldest first; returns false to stop. */
  onRun(run: Run): boolean
}

const path = '/runs'
const pollMs = 1_000
/** Maximum delay with which a run may be listed after younger ones, in milliseconds. */
const overlapMs = 10_000

/** Follows the list of runs until `signal` aborts or `onRun` returns false. */
export async function tailRuns({ api, query, since, signal, say, onRun }: RunTailOptions): Promise<void> {
  const shown = new Map<string, number>()
  // If the platform is unreachable at the start, that is an error; the command does not wait for it.
  const [latest] = (await api.page(Run, { path, query: { ...query, limit: 1 } })).data
  if (since === undefined && latest) shown.set(latest.id, Date.parse(latest.queuedAt))
  const begin = since ?? latest?.queuedAt
  const beginMs = begin === undefined ? Number.NEGATIVE_INFINITY : Date.parse(begin)
  let newestMs = beginMs

  const poll = async () => {
    const fromMs = Math.max(newestMs - overlapMs, beginMs)
    const from = Number.isFinite(fromMs) ? new Date(fromMs).toISOString() : undefined
    const found: Run[] = []
    for await (const page of api.pages(Run, { path, query: { ...query, from }, signal, attempts: 1 }))
      found.push(...page.filter(({ id }) => !shown.has(id)))
    for (const run of found.reverse()) {
      const atMs = Date.parse(run.queuedAt)
      shown.set(run.id, atMs)
      newestMs = Math.max(newestMs, atMs)
      if (!onRun(run)) return false
    }
    for (const [id, atMs] of shown) if (atMs < newestMs - overlapMs) shown.delete(id)
    await delay(pollMs, signal)
    return true
  }
  await follow(poll, { signal, say })
}
