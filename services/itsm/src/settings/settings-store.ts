import type {
  CommandMeta,
  Instant,
  ItsmSettings,
  ItsmSettingsPatch,
  ItsmSettingsState,
  TenantScope,
} from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { defaultSettings, itsmSettings } from './domain.js'
import { settingsIdOf } from './settings-id.js'

type StoreContext = Pick<ServiceContext, 'store'>

interface Kept {
  state: ItsmSettingsState
  /** Of `performance.now()`. */
  until: number
}

/** So late does a replica notice, at worst, that another one has changed settings. */
const keptForMs = 500
const mostKept = 10_000
const keptOf = new WeakMap<StoreContext['store'], Map<string, Kept>>()

function keptBy(store: StoreContext['store']): Map<string, Kept> {
  const kept = keptOf.get(store) ?? new Map<string, Kept>()
  keptOf.set(store, kept)
  if (kept.size > mostKept) kept.clear()
  return kept
}

/**
 * The settings that hold for a tenant: one read by primary key, the defaults where there is no row. What was read is
 * kept for a moment, as every new incident asks.
 */
export async function settingsOf({ store }: StoreContext, tenant: TenantScope): Promise<ItsmSettingsState> {
  const id = settingsIdOf(tenant)
  const kept = keptBy(store)
  const known = kept.get(id)
  if (known && known.until > performance.now()) return known.state
  const until = performance.now() + keptForMs
  const state = (await store.aggregate(itsmSettings).find(id, tenant))?.state ?? defaultSettings(id)
  kept.set(id, { state, until })
  return state
}

/** The settings as the API shows them: untouched ones have version 0. */
export function settingsStore({ store }: StoreContext) {
  const aggregate = store.aggregate(itsmSettings)
  return {
    /** As they are, or as they were at an instant. */
    async get(tenant: TenantScope, asOf?: Instant): Promise<ItsmSettings> {
      const id = settingsIdOf(tenant)
      const row = await aggregate.find(id, tenant, asOf)
      return { ...(row?.state ?? defaultSettings(id)), version: row?.version ?? 0 }
    },
    async patch(patch: ItsmSettingsPatch, meta: CommandMeta): Promise<ItsmSettings> {
      const id = settingsIdOf(meta.tenant)
      const change = async (unit: Unit) => {
        const current = (await unit.find(aggregate, id)) ?? { state: defaultSettings(id), version: 0 }
        return unit.handle(aggregate, id, { kind: 'patch', patch, now: meta.now }, { current })
      }
      try {
        return await store.transact(meta, change, { turn: id })
      } finally {
        keptBy(store).delete(id)
      }
    },
  }
}
