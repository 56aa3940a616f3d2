import {
  ApiError,
  type CommandMeta,
  type Incident,
  type IncidentState,
  invalidField,
  notFound,
  type Problem,
} from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import type { IncidentStore } from '../incident/incident-store.js'
import type { ProblemStore } from './problem-store.js'
import { usableItems } from './references.js'

/** Links incidents to the problem that causes them. The incident stores the link, so its own rules and events apply. */
export function problemLinks(ctx: ServiceContext, incidents: IncidentStore, problems: ProblemStore) {
  const pointTo = (unit: Unit, id: string, problemId: string | null, now: string): Promise<Incident> =>
    unit.handle(incidents, id, { kind: 'edit', fields: { problemId }, now })

  return {
    async link(problemId: string, reference: string, meta: CommandMeta): Promise<Incident> {
      const id = await incidents.findId(reference, meta.tenant)
      const work = async (unit: Unit) => {
        if (!(await unit.find(problems, problemId))) throw notFound()
        const found = await unit.find(incidents, id)
        if (!found) throw invalidField('/incidentId', 'unknown_incident', 'There is no such incident.')
        if (found.state.problemId === problemId) return incidents.present(found)
        checkFree(found.state)
        return pointTo(unit, id, problemId, meta.now)
      }
      return ctx.store.transact(meta, work, { queueKey: id })
    },

    async unlink(problemId: string, reference: string, meta: CommandMeta): Promise<void> {
      const id = await incidents.findId(reference, meta.tenant)
      const work = async (unit: Unit) => {
        const found = await unit.find(incidents, id)
        if (found?.state.problemId !== problemId) throw notFound()
        await pointTo(unit, id, null, meta.now)
      }
      return ctx.store.transact(meta, work, { queueKey: id })
    },

    /** Creates a problem for an incident and links it. Both are committed in one transaction. */
    async raise(reference: string, meta: CommandMeta): Promise<Problem> {
      const id = await incidents.findId(reference, meta.tenant)
      const work = async (unit: Unit) => {
        const found = await unit.find(incidents, id)
        if (!found) throw notFound()
        checkFree(found.state)
        const { title, description, impact, urgency, ciId } = found.state
        const ciIds = ciId === null ? [] : await usableItems(ctx.database.db, meta.tenant, [ciId], unit)
        const input = { title, description, impact, urgency, ciIds, changeIds: [], tags: [] }
        const command = await problems.prepare(input, meta)
        await pointTo(unit, id, command.id, meta.now)
        return unit.create(problems, command.id, command)
      }
      return ctx.store.transact(meta, work, { queueKey: id })
    },
  }
}
export type ProblemLinks = ReturnType<typeof problemLinks>

/** Throws conflict if the incident is already linked to a problem. */
function checkFree({ problemId }: IncidentState): void {
  if (problemId === null) return
  throw new ApiError('conflict', 'The incident is linked to a problem already. Unlink it first.', {
    details: [
      {
        in: 'body',
        path: '',
        code: 'already_linked',
        message: 'must not be linked to a problem',
        params: { problemId },
      },
    ],
  })
}
