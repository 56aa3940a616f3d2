import type { CommandMeta, Incident, IncidentState, TenantScope } from '@opsplane/contracts'
import type { ServiceContext } from '@opsplane/service'
import { findReferencedId } from '../lists/referenced-id.js'
import type { People } from '../people.js'
import { incidents } from '../schema/incident.js'
import type { SettingsStore } from '../settings/settings-store.js'
import type { IncidentCommand } from './commands.js'
import { dedupKeyConflict, isDedupKeyConflict } from './dedup-key.js'
import { incident } from './domain.js'
import { openIncidentByKey } from './lists/queries.js'
import { allowedMajorActions } from './major/major.js'
import type { IncidentLinks } from './parent-child/links.js'
import { allowedActions } from './transitions.js'

/** Incidents in their API representation: with their version and the actions allowed now. */
export function incidentStore(
  { store, database }: Pick<ServiceContext, 'store' | 'database'>,
  { settings, people }: { settings: SettingsStore; people: People },
) {
  const aggregate = store.aggregate(incident, { present })

  /** Runs `work`. Throws conflict if it would reopen the incident while another one with its dedup key is open. */
  async function reopening<T>(id: string, tenant: TenantScope, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      if (!isDedupKeyConflict(error)) throw error
      const dedupKey = (await aggregate.find(id, tenant))?.state.dedupKey ?? ''
      throw dedupKeyConflict(await openIncidentByKey(database.db, tenant, dedupKey), error)
    }
  }

  return {
    ...aggregate,
    handle: (id: string, command: IncidentCommand, meta: CommandMeta): Promise<Incident> =>
      reopening(id, meta.tenant, () => aggregate.handle(id, command, meta)),
    reopening,
    /** Returns the settings for commands. */
    getSettings: settings.current,
    /** Validates the people that commands name. */
    people,
    /** Returns the links of the incident to other records. */
    findLinks: async (id: string, tenant: TenantScope): Promise<IncidentLinks | undefined> =>
      (await aggregate.find(id, tenant))?.state,
    /** Resolves an id or a number such as `INC-12`. Anything else is treated as an id that does not exist. */
    findId: (reference: string, tenant: TenantScope): Promise<string> =>
      findReferencedId(database.db, { table: incidents, prefix: 'INC' }, reference, tenant),
  }
}
export type IncidentStore = ReturnType<typeof incidentStore>

function present(state: IncidentState, version: number): Incident {
  return {
    ...state,
    version,
    allowedActions: allowedActions(state.status),
    allowedMajorActions: allowedMajorActions(state),
  }
}
