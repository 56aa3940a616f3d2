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

/** Number of incidents changed in one commit. */
export const batchSize = 50

interface CascadeCursor {
  createdAt: string
  id: string
}

/**
 * Applies the events of a problem to its linked incidents, one batch per commit. The log shows which incidents an event
 * has already reached, so each is changed once, however often the event is delivered.
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

  /** Returns the number of the original that a duplicate refers to. */
  async function originalOf(id: unknown, tenant: TenantScope): Promise<string | null> {
    if (typeof id !== 'string') return null
    return (await problems.find(id, tenant))?.state.number ?? null
  }

  /**
   * Handles one batch of incidents after the cursor. Returns the
   * cursor of the next batch, or `null` if there are no more.
   */
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
      const storedIncident = { state: storedState(incident, state), version }
      for (const step of toIncidentSteps(reaction, { id: newId('comment'), incidentId: id }, now))
        await unit.handle(incidents, id, { ...step, cause: 'problem', now }, { current: storedIncident })
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
          incidentConditions[reaction.reaches],
          sql`not exists (select 1 from events e where e.stream_id = ${table.id} and e.causation_id = ${event.id})`,
        ),
      )
      .orderBy(asc(table.createdAt), asc(table.id))
      .limit(batchSize)
  }

  /**
   * Handles an incident that began to wait after its problem had ended, because of a race with the end or a late link.
   * It gets the same update as the other incidents. If the problem ends only after this check, the event of its end is
   * handled later and finds the incident waiting.
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

/**
 * Returns the problem an incident is on hold for. An incident that is on hold with its parent resumes with the
 * parent.
 */
function findAwaitedProblem(state: IncidentState | null | undefined): string | null {
  if (state?.holdReason !== 'awaiting_problem' || state.followsParent) return null
  return state.problemId
}

const incidentConditions: Record<Reaction['reaches'], SQL | undefined> = {
  open: inArray(table.status, ['open', 'in_progress', 'on_hold']),
  awaiting: and(eq(table.status, 'on_hold'), sql`${table.state}->>'holdReason' = 'awaiting_problem'`),
}
