import { Execution, idTime } from '@opsplane/contracts'
import { delay } from '@opsplane/runtime'
import type { Api, Call } from './api.js'
import { follow } from './follow.js'

export interface ExecutionTailOptions {
  api: Api
  /** The call that lists the executions to follow. */
  call: Call
  signal: AbortSignal
  say(line: string): void
  /** Called once for each execution, oldest first; returns false to stop. */
  onExecution(execution: Execution): boolean
}

const pollMs = 1_000
/** Maximum delay with which an execution may be listed after younger ones, in milliseconds. */
const overlapMs = 10_000

/** Follows executions that start from now on, until `signal` aborts or `onExecution` returns false. */
export async function tailExecutions(options: ExecutionTailOptions): Promise<void> {
  const { api, call, signal, say, onExecution } = options
  // If the platform is unreachable at the start, that is an error; the command does not wait for it.
  const present = (await api.page(Execution, { ...call, query: { ...call.query, limit: 50 } })).data
  const shown = new Set(present.map(({ id }) => id))
  let newestMs = present[0] ? idTime(present[0].id) : Number.NEGATIVE_INFINITY
  const beginMs = newestMs

  /** Executions not reported yet, back to the instant before which none can appear any more. */
  async function readNewExecutions(): Promise<Execution[]> {
    const sinceMs = Math.max(newestMs - overlapMs, beginMs)
    const found: Execution[] = []
    for await (const page of api.pages(Execution, { ...call, signal, attempts: 1 })) {
      found.push(...page.filter(({ id }) => !shown.has(id) && idTime(id) >= sinceMs))
      if (page.some(({ id }) => idTime(id) < sinceMs || id === present[0]?.id)) break
    }
    return found.reverse()
  }

  const poll = async () => {
    for (const execution of await readNewExecutions()) {
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
