import { ApiError, type CommandMeta, type Incident, type NewIncident, newId } from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { acceptsAlerts } from './alerts.js'
import { isDedupKeyConflict } from './dedup-key.js'
import type { IncidentStore } from './incident-store.js'
import { openIncidentByKey } from './lists/queries.js'
import { namedPeople } from './named-people.js'
import { attachChild } from './parent-child/linking.js'
import { checkIncidentLinks } from './parent-child/links.js'

/** Maximum attempts when other processes open, count on or end the incident with the same key at the same time. */
const maxRounds = 10

/** Opens an incident. If one with the same dedup key is open, counts the alert there instead. See ADR 026. */
export async function openIncident(
  ctx: Pick<ServiceContext, 'store' | 'database'>,
  incidents: IncidentStore,
  input: NewIncident,
  meta: CommandMeta,
): Promise<Incident> {
  const { store, database } = ctx
  const { tenant, now } = meta
  const { dedupKey, parentId } = input
  await incidents.people.check(tenant, namedPeople(input))
  const parent = parentId ? [parentId] : []
  const create = async (unit: Unit) => {
    // Not checked for an alert that is only counted, because a record it names may have been retired since.
    await checkIncidentLinks(database.db, tenant, input, unit)
    const id = newId('incident')
    const [settings, next] = await Promise.all([
      incidents.getSettings(tenant),
      store.numbers.next(tenant.workspaceId, 'incident', { ahead: true }),
    ])
    const command = { id, number: `INC-${next}`, by: meta.actor, now, settings, input }
    if (parentId) await attachChild(unit, incidents, parentId, now)
    return unit.create(incidents, id, { kind: 'create', ...command })
  }
  if (dedupKey === undefined) return store.transact(meta, create, { queueKey: parent })

  const countOrCreate = async (unit: Unit) => {
    const id = await openIncidentByKey(database.db, tenant, dedupKey)
    const current = id === undefined ? null : await unit.find(incidents, id)
    return id !== undefined && current && acceptsAlerts(current.state)
      ? unit.handle(incidents, id, { kind: 'alert', now })
      : create(unit)
  }
  // Serializes alerts with the same key within this process, so that an alert storm does not lose races against itself.
  const queueKey = ['dedup-key', tenant.workspaceId, tenant.environment, dedupKey].join(' ')
  for (let round = 1; ; round++) {
    try {
      return await store.transact(meta, countOrCreate, { queueKey: [queueKey, ...parent] })
    } catch (error) {
      if (!isDedupKeyConflict(error) && !(error instanceof ApiError && error.code === 'version_conflict'))
        throw error
      if (round === maxRounds)
        throw new ApiError('version_conflict', 'Too many alerts with this key at once. Try again.')
    }
  }
}
