import { type TenantScope, tenantKey } from '@opsplane/contracts'
import type { ServiceContext } from '@opsplane/service'
import { wakeHints } from '@opsplane/service'

/** Notifies every replica that facts have changed. */
export interface FactNotifications {
  /** To be called after facts of these tenants were committed by this replica. */
  changed(tenants: readonly TenantScope[]): void
  /** Calls `wake` whenever facts of the tenant may have changed, until the returned function is called. */
  listen(tenant: TenantScope, wake: () => void): () => void
  close(): void
}

const work = 'analytics-facts'

export function createFactNotifications({
  link,
  names,
}: Pick<ServiceContext, 'link' | 'names'>): FactNotifications {
  const listeners = new Map<string, Set<() => void>>()
  const hints = wakeHints(link, names, 'analytics')
  const wakeAll = () => {
    for (const wakes of listeners.values()) for (const wake of wakes) wake()
  }
  const unsubscribe = hints.subscribe(work, wakeAll)
  return {
    changed(tenants) {
      for (const tenant of tenants) for (const wake of listeners.get(tenantKey(tenant)) ?? []) wake()
      hints.send(work)
    },
    listen(tenant, wake) {
      const key = tenantKey(tenant)
      const wakes = listeners.get(key) ?? new Set()
      listeners.set(key, wakes.add(wake))
      return () => {
        wakes.delete(wake)
        if (wakes.size === 0) listeners.delete(key)
      }
    },
    close: unsubscribe,
  }
}
