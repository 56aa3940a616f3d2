import {
  type CommandMeta,
  type IncidentState,
  itsmEvents,
  newId,
  type PlatformEvent,
  storedState,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { and, asc, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { incident } from '../incident/domain.js'
import type { IncidentStore } from '../incident/incident-store.js'
import { incidents as table } from '../schema/incident.js'
import type { ProblemStore } from './problem-store.js'
import { findEndReaction, findReaction, type Reaction, toIncidentSteps } from './reaction.js'

/** Incidents changed in one commit. */
export const batchSize = 50

interface CascadeCursor {
  createdAt: string
  id: string
}

/**
 * Brings what happens to a problem to the incidents linked to it, a batch in a commit. The log tells which incidents
 * an event has reached: it reaches each of them once, however often it comes.
 */
export function createCascade(
  { store, database: { db }, clock }: Pick<ServiceContext, 'store' | 'database' | 'clock'>,
  incidents: IncidentStore,
  problems: ProblemStore,
) {
  async function apply(event: PlatformEvent): Promise<void> {
    const tenant: TenantScope = { workspaceId: event.workspaceId, environment: event.environment }
    const reaction = findReaction(event, await originalOf(event.data.after?.duplicateOf, tenant))
    if (reaction === null) return
    for (let place: CascadeCursor | null = { createdAt: '', id: '' }; place !== null; ) {
      const { createdAt, id }: CascadeCursor = place
      const now = clock.now()
      const meta: CommandMeta = { tenant, actor: systemActor, now, requestId: null, causationId: event.id }
      place = await store.transact(meta, (unit) => reach(unit, event, reaction, meta, { createdAt, id }))
    }
  }

  /** The number of the problem that a duplicate names. */
  async function originalOf(id: unknown, tenant: TenantScope): Promise<string | null> {
    if (typeof id !== 'string') return null
    return (await problems.find(id, tenant))?.state.number ?? null
  }

  /** One batch of incidents beyond a place; where it ends, or null when there are no more. */
  async function reach(
    unit: Unit,
    event: PlatformEvent,
    reaction: Reaction,
    { tenant, now }: CommandMeta,
    after: CascadeCursor,
  ): Promise<CascadeCursor | null> {
    const current = await unit.find(problems, reaction.problem.id)
    if (!current || !reaction.holds(current.state)) return null
    const rows = await linked(event, reaction, tenant, after)
    for (const { id, state, version } of rows) {
      const given = { state: storedState(incident, state), version }
      for (const step of toIncidentSteps(reaction, { id: newId('comment'), incidentId: id }, now))
        await unit.handle(incidents, id, { ...step, cause: 'problem', now }, { current: given })
    }
    const last = rows.length < batchSize ? undefined : rows.at(-1)
    return last ? { createdAt: last.createdAt ?? '', id: last.id } : null
  }

  function linked(event: PlatformEvent, reaction: Reaction, tenant: TenantScope, after: CascadeCursor) {
    return db
      .select({ id: table.id, createdAt: table.createdAt, state: table.state, version: table.version })
      .from(table)
      .where(
        and(
          eq(table.workspaceId, tenant.workspaceId),
          eq(table.environment, tenant.environment),
          eq(table.problemId, reaction.problem.id),
          sql`(${table.createdAt}, ${table.id}) > (${after.createdAt}, ${after.id})`,
          reached[reaction.reaches],
          sql`not exists (select 1 from events e where e.stream_id = ${table.id} and e.causation_id = ${event.id})`,
        ),
      )
      .orderBy(asc(table.createdAt), asc(table.id))
      .limit(batchSize)
  }

  /**
   * An incident that began to wait when its problem had ended, as in a race with the end or by being linked late: what
   * the end brought to the others comes to it too. Should the end come later than this looks, its own event is later
   * still, and finds the incident waiting.
   */
  async function applyWait(event: PlatformEvent): Promise<void> {
    const { id } = event.resource
    const tenant: TenantScope = { workspaceId: event.workspaceId, environment: event.environment }
    if (findAwaitedProblem(itsmEvents['incident.updated'].data.parse(event.data).after) === null) return
    const now = clock.now()
    const meta: CommandMeta = { tenant, actor: systemActor, now, requestId: null, causationId: event.id }
    await store.transact(meta, async (unit) => {
      const problemId = findAwaitedProblem((await unit.find(incidents, id))?.state)
      const problem = problemId && (await unit.find(problems, problemId))
      if (!problem) return
      const reaction = findEndReaction(problem.state, await originalOf(problem.state.duplicateOf, tenant))
      if (reaction === null) return
      for (const step of toIncidentSteps(reaction, { id: newId('comment'), incidentId: id }, now))
        await unit.handle(incidents, id, { ...step, cause: 'problem', now })
    })
  }

  return { apply, applyWait }
}

/** The problem an incident is on hold for. One that is on hold with its parent goes on with it. */
function findAwaitedProblem(state: IncidentState | null | undefined): string | null {
  if (state?.holdReason !== 'awaiting_problem' || state.followsParent) return null
  return state.problemId
}

const reached: Record<Reaction['reaches'], SQL | undefined> = {
  open: inArray(table.status, ['open', 'in_progress', 'on_hold']),
  awaiting: and(eq(table.status, 'on_hold'), sql`${table.state}->>'holdReason' = 'awaiting_problem'`),
}
