import type { TenantScope } from '@opsplane/contracts'
import { delay, startDeadline } from '@opsplane/runtime'
import type { FactNotifications } from '../fact/fact-notifications.js'

/** How often the database is polled while no notification arrives, and the shortest time between two polls. */
const pollMs = { atMost: 5_000, atLeast: 500 }

/** Waits for changed facts of a tenant, with one poll of the database for all requests that wait for the same tenant. */
export function createChangeWaiter(notifications: Pick<FactNotifications, 'listen'>) {
  const draining = new AbortController()
  const looks = new Map<string, Promise<void>>()

  /** The next poll, shared by all requests that wait for the tenant. */
  const nextLook = (tenant: TenantScope): Promise<void> => {
    const key = `${tenant.workspaceId}/${tenant.environment}`
    const known = looks.get(key)
    if (known) return known
    const made = lookAfterNews(tenant).finally(() => looks.delete(key))
    looks.set(key, made)
    return made
  }
  const lookAfterNews = async (tenant: TenantScope) => {
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
    /** Resolves once `isNew` says so, the time is up, the client is gone, or the service goes down. */
    async waitUntil(
      tenant: TenantScope,
      isNew: () => Promise<boolean>,
      { timeoutMs, signal }: { timeoutMs: number; signal: AbortSignal },
    ): Promise<void> {
      const { signal: over, clear } = startDeadline(timeoutMs, signal, draining.signal)
      const isOver = aborted(over)
      try {
        while (!over.aborted) {
          // Listened for before it is looked: what changes in between is then seen by the next look.
          const look = nextLook(tenant)
          if (await isNew()) return
          await Promise.race([look, isOver])
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
