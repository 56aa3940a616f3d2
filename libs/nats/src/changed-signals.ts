import {
  type ChangedSignal,
  type ChangedType,
  maxChangedIds,
  type NatsNames,
  type TenantScope,
  tenantKey,
} from '@opsplane/contracts'
import { systemTimers, type Timer, type Timers } from '@opsplane/runtime'

interface ChangedSignalsOptions {
  names: Pick<NatsNames, 'changedSubject'>
  type: ChangedType
  publish(subject: string, payload: string): void
  timers?: Pick<Timers, 'setTimeout' | 'clearTimeout'>
}

/** Publishes on core NATS which resources have changed, for pages that show them. */
export interface ChangedSignals {
  /** Must be called after the change is committed. */
  changed(tenant: TenantScope, id: string): void
  /** Drops signals not published yet. */
  close(): void
}

interface Gathered {
  tenant: TenantScope
  ids: Set<string>
  isMore: boolean
}

/** After an idle period: changes made together share one signal, which still appears immediate. */
const firstAfterMs = 50
const everyMs = 1_000

/**
 * Collects changes, and publishes them at most once a second per tenant. All tenants share one timer, which runs
 * only while something changes.
 */
export function createChangedSignals(options: ChangedSignalsOptions): ChangedSignals {
  const { names, type, publish, timers = systemTimers } = options
  let gathered = new Map<string, Gathered>()
  let timer: Timer | undefined
  const publishIn = (ms: number) => {
    timer = timers.setTimeout(publishAll, ms)
    timer.unref()
  }

  function publishAll() {
    timer = undefined
    if (gathered.size === 0) return
    for (const { tenant, ids, isMore } of gathered.values()) {
      const signal: ChangedSignal = { type, ids: [...ids], ...(isMore && { isMore }) }
      publish(names.changedSubject(tenant), JSON.stringify(signal))
    }
    gathered = new Map()
    publishIn(everyMs)
  }

  return {
    changed(tenant, id) {
      const key = tenantKey(tenant)
      const known = gathered.get(key)
      if (!known) gathered.set(key, { tenant, ids: new Set([id]), isMore: false })
      else if (known.ids.size < maxChangedIds) known.ids.add(id)
      else known.isMore ||= !known.ids.has(id)
      if (timer === undefined) publishIn(firstAfterMs)
    },
    close: () => timers.clearTimeout(timer),
  }
}
