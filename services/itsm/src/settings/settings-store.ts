import type {
  CommandMeta,
  ItsmSettings,
  ItsmSettingsPatch,
  ItsmSettingsState,
  TenantScope,
} from '@opsplane/contracts'
import type { BackendContext, Unit } from '@opsplane/eventstore'
import { defaultSettings, itsmSettings } from './domain.js'
import { settingsIdOf } from './settings-id.js'

type StoreContext = Pick<BackendContext, 'store'>

/** The settings that hold for a tenant now: one read by primary key, the defaults where there is no row. */
export async function settingsOf(ctx: StoreContext, tenant: TenantScope): Promise<ItsmSettingsState> {
  const id = settingsIdOf(tenant)
  return (await ctx.store.aggregate(itsmSettings).find(id, tenant))?.state ?? defaultSettings(id)
}

/** The settings as the API shows them: untouched ones have version 0. */
export function settingsStore({ store }: StoreContext) {
  const aggregate = store.aggregate(itsmSettings)
  return {
    async get(tenant: TenantScope): Promise<ItsmSettings> {
      const id = settingsIdOf(tenant)
      const row = await aggregate.find(id, tenant)
      return { ...(row?.state ?? defaultSettings(id)), version: row?.version ?? 0 }
    },
    patch(patch: ItsmSettingsPatch, meta: CommandMeta): Promise<ItsmSettings> {
      const id = settingsIdOf(meta.tenant)
      const change = async (unit: Unit) => {
        const current = (await unit.find(aggregate, id)) ?? { state: defaultSettings(id), version: 0 }
        return unit.handle(aggregate, id, { kind: 'patch', patch, now: meta.now }, { current })
      }
      return store.transact(meta, change, { turn: id })
    },
  }
}
