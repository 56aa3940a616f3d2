import type { CommandMeta, Incident, IncidentState, TenantScope } from '@opsplane/contracts'
import type { BackendContext } from '@opsplane/eventstore'
import { settingsOf } from '../settings/settings-store.js'
import type { IncidentCommand } from './commands.js'
import { isKeyTaken, keyTaken } from './dedup-key.js'
import { incident } from './domain.js'
import type { IncidentLinks } from './links.js'
import { incidentIdByNumber, openIncidentByKey } from './queries.js'
import { allowedActions } from './transitions.js'

/** The incidents as the API shows them: with their version and what can be done to them now. */
export function incidentStore({ store, database }: BackendContext) {
  const aggregate = store.aggregate(incident, { present })
  return {
    ...aggregate,
    /** Throws conflict when the incident is to open again while another of its dedup key is open. */
    handle: async (id: string, command: IncidentCommand, meta: CommandMeta): Promise<Incident> => {
      try {
        return await aggregate.handle(id, command, meta)
      } catch (error) {
        if (!isKeyTaken(error)) throw error
        const dedupKey = (await aggregate.find(id, meta.tenant))?.state.dedupKey ?? ''
        throw keyTaken(await openIncidentByKey(database.db, meta.tenant, dedupKey), error)
      }
    },
    /** The settings commands are given with. */
    deskOf: (tenant: TenantScope) => settingsOf({ store }, tenant),
    /** What the incident names. */
    linksOf: async (id: string, tenant: TenantScope): Promise<IncidentLinks | undefined> =>
      (await aggregate.find(id, tenant))?.state,
    /** Paths take an id or a number such as `INC-12`; anything else is an id that does not exist. */
    idOf: async (reference: string, tenant: TenantScope): Promise<string> =>
      /^INC-[1-9]\d{0,8}$/.test(reference)
        ? ((await incidentIdByNumber(database.db, tenant, reference)) ?? reference)
        : reference,
  }
}
export type IncidentStore = ReturnType<typeof incidentStore>

function present(state: IncidentState, version: number): Incident {
  return { ...state, version, allowedActions: allowedActions(state.status) }
}
