import type { TenantScope } from '@opsplane/contracts'
import { delay, startDeadline } from '@opsplane/runtime'
import type { FactNews } from '../fact/fact-news.js'

/** Whoever waits looks again so often, where no word of a change has come through; and no more often than that. */
const lookMs = { atMost: 5_000, atLeast: 500 }

/** Waits for news of tenants, one look at the database for all who wait for the same tenant. */
export function createWaiting(news: Pick<FactNews, 'listen'>) {
  const draining = new AbortController()
  const looks = new Map<string, Promise<void>>()

  /** The next moment to look at: the same one for everybody who waits now. */
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
    const stop = news.listen(tenant, () => woken.abort())
    try {
      await delay(lookMs.atLeast, draining.signal)
      await delay(lookMs.atMost - lookMs.atLeast, AbortSignal.any([woken.signal, draining.signal]))
    } finally {
      stop()
    }
  }

  return {
    /** Resolves once `isNew` says so, the time is up, the client is gone, or the service goes down. */
    async until(
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
export type Waiting = ReturnType<typeof createWaiting>

const aborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
