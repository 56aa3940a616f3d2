import {
  ChangeState,
  type CommandMeta,
  type EndedChange,
  type PlatformEvent,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import { type BackendContext, type Closable, consumeEvents } from '@opsplane/eventstore'
import type { Drizzle } from '@opsplane/postgres'
import { and, desc, eq, inArray, notInArray, or, sql } from 'drizzle-orm'
import { ending, over } from '../change/over.js'
import { changes, problems as table } from '../schema.js'
import { problem } from './domain.js'

/** Changes an event names. */
const mostTold = 100

/** Tells of an open problem once the last change linked to it is over, from whichever side they are linked. */
export function tellChangesEnded(ctx: BackendContext): Closable {
  const { store, clock, database } = ctx
  const problems = store.aggregate(problem)

  const tell = (id: string, meta: CommandMeta) =>
    store.transact(meta, async (unit) => {
      const current = await unit.find(problems, id)
      if (!current) return
      const ended = await endedChanges(database.db, meta.tenant, id, current.state.changeIds)
      if (ended === null) return
      await unit.handle(problems, id, { kind: 'tell_changes_ended', changes: ended }, { current })
    })

  const heed = async (event: PlatformEvent) => {
    const { before, after } = event.data
    // A completed change is closed later on, which is nothing new.
    if (isOver(ChangeState.parse(before)) || !isOver(ChangeState.parse(after))) return
    const tenant = { workspaceId: event.workspaceId, environment: event.environment }
    const meta = { tenant, actor: systemActor, now: clock.now(), requestId: null, causationId: event.id }
    for (const id of await openProblemsOf(database.db, tenant, ChangeState.parse(after), event.id))
      await tell(id, meta)
  }

  return consumeEvents({
    database,
    link: ctx.link,
    names: ctx.names,
    log: ctx.log,
    durable: 'itsm-problem-changes',
    filterSubjects: ctx.names.eventFilters(ending),
    perform: async (events) => {
      for (const event of events) await heed(event)
    },
  })
}

const isOver = ({ status }: Pick<ChangeState, 'status'>) => over.includes(status)

/** Those that this event has not reached yet. */
async function openProblemsOf(db: Drizzle, tenant: TenantScope, change: ChangeState, eventId: string) {
  const linked = [
    sql`${table.changeIds} @> ${JSON.stringify([change.id])}::jsonb`,
    ...(change.problemId === null ? [] : [eq(table.id, change.problemId)]),
  ]
  const rows = await db
    .select({ id: table.id })
    .from(table)
    .where(
      and(
        eq(table.workspaceId, tenant.workspaceId),
        eq(table.environment, tenant.environment),
        or(...linked),
        notInArray(table.status, ['resolved', 'closed']),
        sql`not exists (select 1 from events e where e.stream_id = ${table.id} and e.causation_id = ${eventId})`,
      ),
    )
  return rows.map(({ id }) => id)
}

/** The changes linked to a problem, the newest first; null where one of them is still to come. */
async function endedChanges(
  db: Drizzle,
  tenant: TenantScope,
  problemId: string,
  changeIds: string[],
): Promise<EndedChange[] | null> {
  const rows = await db
    .select({ state: changes.state })
    .from(changes)
    .where(
      and(
        eq(changes.workspaceId, tenant.workspaceId),
        eq(changes.environment, tenant.environment),
        or(eq(changes.problemId, problemId), inArray(changes.id, changeIds)),
      ),
    )
    .orderBy(inArray(changes.status, [...over]), desc(changes.id))
    .limit(mostTold)
  const ended = rows.map(({ state }) => ChangeState.parse(state))
  if (!ended.every(isOver)) return null
  return ended.map(({ id, number, status, outcome }) => ({ id, number, status, outcome }))
}
