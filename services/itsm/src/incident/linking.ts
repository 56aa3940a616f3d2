import { type CommandMeta, type Incident, notFound } from '@opsplane/contracts'
import { type BackendContext, preconditionFailed, type Unit } from '@opsplane/eventstore'
import type { CreateIncident, PatchIncident } from './commands.js'
import { unknownParent } from './family.js'
import type { IncidentStore } from './incident-store.js'

/** Opens and changes incidents that are part of another one. Child and parents are written in one transaction. */
export function incidentLinking({ store }: Pick<BackendContext, 'store'>, incidents: IncidentStore) {
  const adopt = async (unit: Unit, parentId: string, now: string) => {
    if ((await unit.find(incidents, parentId)) === null) throw unknownParent()
    await unit.handle(incidents, parentId, { kind: 'adopt', now })
  }

  async function create(command: CreateIncident, meta: CommandMeta): Promise<Incident> {
    const { parentId } = command.input
    if (!parentId) return incidents.create(command.id, command, meta)
    const open = async (unit: Unit) => {
      await adopt(unit, parentId, command.now)
      return unit.create(incidents, command.id, command)
    }
    return store.transact(meta, open, { turn: parentId })
  }

  async function patch(id: string, command: PatchIncident, meta: CommandMeta): Promise<Incident> {
    const { parentId } = command.patch
    const before = await incidents.find(id, meta.tenant)
    if (parentId === undefined || before === null) return incidents.handle(id, command, meta)
    // If-Match is about the child alone: who loses a race for the parent tries again.
    const { expectedVersion, ...rest } = meta
    const move = async (unit: Unit): Promise<Incident> => {
      const current = await unit.find(incidents, id)
      if (current === null) throw notFound()
      if (expectedVersion !== undefined && expectedVersion !== current.version)
        throw preconditionFailed(current.version)
      const from = current.state.parentId
      let result: Incident | undefined
      const change = async () => {
        result = await unit.handle(incidents, id, command, { current })
      }
      const steps = new Map([[id, change]])
      if (parentId !== from && parentId !== id) {
        if (from !== null)
          steps.set(from, async () => {
            await unit.handle(incidents, from, { kind: 'release', now: command.now })
          })
        if (parentId !== null) steps.set(parentId, () => adopt(unit, parentId, command.now))
      }
      // Everybody writes incidents in the order of their ids, so that no two wait for each other.
      for (const [, step] of [...steps].sort(([left], [right]) => (left < right ? -1 : 1))) await step()
      if (result === undefined) throw new Error('The child was not among what was changed.')
      return result
    }
    const turn = [id, before.state.parentId, parentId].filter((one) => one !== null)
    return store.transact(rest, move, { turn })
  }

  return { create, patch }
}
