import { type CommandMeta, type Incident, notFound } from '@opsplane/contracts'
import { preconditionFailed, type Unit } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import type { PatchIncident } from '../commands.js'
import type { IncidentStore } from '../incident-store.js'
import { namedPeople } from '../named-people.js'
import { checkIncidentLinks } from './links.js'
import { unknownParent } from './parent-child.js'

/** Updates the parent of an incident that joins it. Throws validation_failed naming /parentId. */
export async function attachChild(
  unit: Unit,
  incidents: IncidentStore,
  parentId: string,
  now: string,
): Promise<void> {
  if ((await unit.find(incidents, parentId)) === null) throw unknownParent()
  await unit.handle(incidents, parentId, { kind: 'attach', now })
}

/** Users that the incident already names may stay. The incident is read only if the patch names a user. */
async function checkPeople(
  incidents: IncidentStore,
  id: string,
  patch: PatchIncident['patch'],
  { tenant }: CommandMeta,
): Promise<void> {
  const patchedPeople = namedPeople(patch)
  if (Object.values(patchedPeople).every((people) => !people || people.length === 0)) return
  const before = await incidents.find(id, tenant)
  await incidents.people.check(tenant, patchedPeople, before ? namedPeople(before.state) : {})
}

/**
 * Patches an incident after checking the records it names. If `parentId` changes, the former and the new parent are
 * updated in the same transaction.
 */
export async function patchIncident(
  { store, database }: Pick<ServiceContext, 'store' | 'database'>,
  incidents: IncidentStore,
  id: string,
  command: PatchIncident,
  meta: CommandMeta,
): Promise<Incident> {
  const { now, patch } = command
  const { parentId } = patch
  await checkPeople(incidents, id, patch, meta)
  const before = await (parentId === undefined ? null : incidents.find(id, meta.tenant))
  const checkLinks = (unit: Unit) =>
    checkIncidentLinks(database.db, meta.tenant, patch, unit, () => incidents.findLinks(id, meta.tenant))
  if (parentId === undefined || before === null) {
    const change = async (unit: Unit): Promise<Incident> => {
      await checkLinks(unit)
      return unit.handle(incidents, id, command)
    }
    return incidents.reopening(id, meta.tenant, () => store.transact(meta, change, { queueKey: id }))
  }
  // If-Match applies to the child only. After a lost race for a parent, the transaction is retried.
  const { expectedVersion, ...rest } = meta

  const move = async (unit: Unit): Promise<Incident> => {
    await checkLinks(unit)
    const current = await unit.find(incidents, id)
    if (current === null) throw notFound()
    if (expectedVersion !== undefined && expectedVersion !== current.version)
      throw preconditionFailed(current.version)
    let result: Incident | undefined
    const steps = new Map<string, () => Promise<unknown>>()
    steps.set(id, async () => {
      result = await unit.handle(incidents, id, command, { current })
    })
    const from = current.state.parentId
    if (parentId !== from && parentId !== id) {
      if (from !== null) steps.set(from, () => unit.handle(incidents, from, { kind: 'detach', now }))
      if (parentId !== null) steps.set(parentId, () => attachChild(unit, incidents, parentId, now))
    }
    // All transactions write incidents in the order of their ids, which prevents deadlocks.
    for (const [, step] of [...steps].sort(([left], [right]) => (left < right ? -1 : 1))) await step()
    if (result === undefined) throw new Error('The child was not among what was changed.')
    return result
  }
  const queueKey = [id, before.state.parentId, parentId].filter((one) => one !== null)
  return incidents.reopening(id, meta.tenant, () => store.transact(rest, move, { queueKey }))
}
