import { Execution, idTime } from '@opsplane/contracts'
import { delay } from '@opsplane/runtime'
import type { Api, Call } from './api.js'
import { follow } from './follow.js'

export interface ExecutionTailOptions {
  api: Api
  /** The list that is followed. */
  call: Call
  signal: AbortSignal
  say(line: string): void
  /** Gets each execution once, oldest first; false: it has had enough. */
  onExecution(execution: Execution): boolean
}

const pollMs = 1_000
/** How much later than younger executions one may be listed. */
const overlapMs = 10_000

/** Follows the executions that are begun from now on, until the signal, or until `onExecution` has had enough. */
export async function tailExecutions(options: ExecutionTailOptions): Promise<void> {
  const { api, call, signal, say, onExecution } = options
  // A platform that is away from the start is an error, not something to wait for.
  const present = (await api.page(Execution, { ...call, query: { ...call.query, limit: 50 } })).data
  const shown = new Set(present.map(({ id }) => id))
  let newestMs = present[0] ? idTime(present[0].id) : Number.NEGATIVE_INFINITY
  const beginMs = newestMs

  /** Those that were not shown, back to where none is late any more. */
  async function news(): Promise<Execution[]> {
    const sinceMs = Math.max(newestMs - overlapMs, beginMs)
    const found: Execution[] = []
    for await (const page of api.pages(Execution, { ...call, signal, attempts: 1 })) {
      found.push(...page.filter(({ id }) => !shown.has(id) && idTime(id) >= sinceMs))
      if (page.some(({ id }) => idTime(id) < sinceMs || id === present[0]?.id)) break
    }
    return found.reverse()
  }

  const poll = async () => {
    for (const execution of await news()) {
      shown.add(execution.id)
      newestMs = Math.max(newestMs, idTime(execution.id))
      if (!onExecution(execution)) return false
    }
    for (const id of shown) if (idTime(id) < newestMs - overlapMs) shown.delete(id)
    await delay(pollMs, signal)
    return true
  }
  await follow(poll, { signal, say })
}
