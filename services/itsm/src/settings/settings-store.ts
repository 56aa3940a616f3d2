import {
  type CommandMeta,
  type Instant,
  type ItsmSettings,
  type ItsmSettingsPatch,
  type ItsmSettingsState,
  type TenantScope,
  tenantKey,
} from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { LRUCache } from 'lru-cache'
import { defaultSettings, itsmSettings } from './domain.js'
import { toSettingsId } from './settings-id.js'

interface CachedSettings {
  read: Promise<ItsmSettingsState>
  /** Expiry on the scale of `performance.now()`. */
  until: number
}

/** Maximum time in milliseconds until a replica notices a change made on another one. */
const cacheMs = 500
const maxCached = 10_000

/** Reads and changes the ITSM settings of each tenant. */
export function settingsStore({ store }: Pick<ServiceContext, 'store'>) {
  const aggregate = store.aggregate(itsmSettings)
  const kept = new LRUCache<string, CachedSettings>({ max: maxCached })
  const read = async (tenant: TenantScope) => {
    const id = toSettingsId(tenant)
    return (await aggregate.find(id, tenant))?.state ?? defaultSettings(id)
  }

  return {
    /**
     * Returns the current settings of a tenant by one primary-key read; the defaults if there is no row. Cached
     * briefly, because every new incident needs them.
     */
    async current(tenant: TenantScope): Promise<ItsmSettingsState> {
      const key = tenantKey(tenant)
      const known = kept.get(key)
      if (known && known.until > performance.now()) return known.read
      // Cached while the read is in flight. A change evicts the
      // entry, and with it a state that was read before the change.
      const until = performance.now() + cacheMs
      const reading = read(tenant)
      kept.set(key, { read: reading, until })
      try {
        return await reading
      } catch (error) {
        kept.delete(key)
        throw error
      }
    },
    /** Returns the settings in their API representation, now or at an instant. Unchanged settings have version 0. */
    async get(tenant: TenantScope, asOf?: Instant): Promise<ItsmSettings> {
      const id = toSettingsId(tenant)
      const row = await aggregate.find(id, tenant, asOf)
      return { ...(row?.state ?? defaultSettings(id)), version: row?.version ?? 0 }
    },
    async patch(patch: ItsmSettingsPatch, meta: CommandMeta): Promise<ItsmSettings> {
      const id = toSettingsId(meta.tenant)
      const change = async (unit: Unit) => {
        const current = (await unit.find(aggregate, id)) ?? { state: defaultSettings(id), version: 0 }
        return unit.handle(aggregate, id, { kind: 'patch', patch, now: meta.now }, { current })
      }
      try {
        return await store.transact(meta, change, { queueKey: id })
      } finally {
        kept.delete(tenantKey(meta.tenant))
      }
    },
  }
}
export type SettingsStore = ReturnType<typeof settingsStore>
