import type { TenantScope } from '@opsplane/contracts'
import { delay, startDeadline } from '@opsplane/runtime'
import type { FactNotifications } from '../fact/fact-notifications.js'

/**
 * Maximum interval between two polls of the database without a notification (`atMost`), and the minimum interval
 * (`atLeast`).
 */
const pollMs = { atMost: 5_000, atLeast: 500 }

/** Waits until facts of a tenant change. All requests waiting for the same tenant share one poll of the database. */
export function createChangeWaiter(notifications: Pick<FactNotifications, 'listen'>) {
  const draining = new AbortController()
  const polls = new Map<string, Promise<void>>()

  /** The next poll, shared by all requests that wait for the tenant. */
  const nextPoll = (tenant: TenantScope): Promise<void> => {
    const key = `${tenant.workspaceId}/${tenant.environment}`
    const known = polls.get(key)
    if (known) return known
    const made = waitForPoll(tenant).finally(() => polls.delete(key))
    polls.set(key, made)
    return made
  }
  const waitForPoll = async (tenant: TenantScope) => {
    const woken = new AbortController()
    const stop = notifications.listen(tenant, () => woken.abort())
    try {
      await delay(pollMs.atLeast, draining.signal)
      await delay(pollMs.atMost - pollMs.atLeast, AbortSignal.any([woken.signal, draining.signal]))
    } finally {
      stop()
    }
  }

  return {
    /** Resolves when `isNew` returns true, the timeout expires, the client disconnects or the service drains. */
    async waitUntil(
      tenant: TenantScope,
      isNew: () => Promise<boolean>,
      { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
    ): Promise<void> {
      const { signal: over, clear } = startDeadline(timeoutMs, signal, draining.signal)
      const isOver = aborted(over)
      try {
        while (!over.aborted) {
          // Subscribe before checking: a change in between is then seen by the next poll.
          const poll = nextPoll(tenant)
          if (await isNew()) return
          await Promise.race([poll, isOver])
        }
      } finally {
        clear()
      }
    },
    drain: () => draining.abort(),
  }
}
export type ChangeWaiter = ReturnType<typeof createChangeWaiter>

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
