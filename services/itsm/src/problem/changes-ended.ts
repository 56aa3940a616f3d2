import {
  ChangeState,
  type CommandMeta,
  type EndedChange,
  type PlatformEvent,
  type ProblemState,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import type { Drizzle } from '@opsplane/postgres'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { and, desc, eq, inArray, ne, notInArray, or, sql } from 'drizzle-orm'
import { changeEndEvents, endedChangeStatuses } from '../links/change-end.js'
import { changes } from '../schema/change.js'
import { problems as table } from '../schema/problem.js'
import { problem } from './domain.js'

/** Maximum number of changes in an event. */
const maxReported = 100

export type ChangesEndedContext = Pick<ServiceContext, 'store' | 'clock' | 'database'>

/**
 * Reports to an open problem that the last of its linked changes has ended, whichever side holds the link. The end of a
 * change is reported to a problem at most once. The ends of several changes form one report, regardless of the order
 * and number of deliveries of their events, and of the number of replicas.
 */
export function createChangesEndedReporter({ store, clock, database }: ChangesEndedContext) {
  const problems = store.aggregate(problem)

  const report = (id: string, changeId: string, meta: CommandMeta) =>
    store.transact(meta, async (unit) => {
      // Read before the reports, so that a concurrent report changes the version that this decision depends on.
      const current = await unit.find(problems, id)
      if (!current) return
      const endedChanges = await findUnreportedEnd(database.db, meta.tenant, current.state, changeId)
      if (endedChanges === null) return
      await unit.handle(problems, id, { kind: 'report_changes_ended', changes: endedChanges }, { current })
    })

  return async (event: PlatformEvent): Promise<void> => {
    const { before, after } = event.data
    // A completed change is closed later, which is not another end.
    if (isOver(ChangeState.parse(before)) || !isOver(ChangeState.parse(after))) return
    const tenant = { workspaceId: event.workspaceId, environment: event.environment }
    const meta = { tenant, actor: systemActor, now: clock.now(), requestId: null, causationId: event.id }
    const change = ChangeState.parse(after)
    for (const id of await findOpenProblems(database.db, tenant, change)) await report(id, change.id, meta)
  }
}

/** Consumer that reports the ends of changes to their problems. */
export function reportChangesEnded(ctx: ServiceContext): BackgroundWork {
  const apply = createChangesEndedReporter(ctx)
  return ctx.consume({
    durable: 'itsm-problem-changes',
    types: changeEndEvents,
    perform: async (events) => {
      for (const event of events) await apply(event)
    },
  })
}

const isOver = ({ status }: Pick<ChangeState, 'status'>) => endedChangeStatuses.includes(status)

async function findOpenProblems(db: Drizzle, tenant: TenantScope, change: ChangeState) {
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
      ),
    )
  return rows.map(({ id }) => id)
}

/**
 * Returns the changes linked to a problem: those with unreported ends first, beginning with this change, then the
 * newest. Returns `null` if one of them has not ended, or if this change is no longer linked or was already reported.
 */
async function findUnreportedEnd(
  db: Drizzle,
  tenant: TenantScope,
  { id: problemId, changeIds }: ProblemState,
  changeId: string,
): Promise<EndedChange[] | null> {
  const reported = sql<boolean>`${changes.id} in (
    select c->>'id' from events e cross join json_array_elements(e.data->'endedChanges') c
    where e.stream_id = ${problemId} and e.stream_type = 'problems' and e.type = 'problem.changes_ended')`
  const rows = await db
    .select({ state: changes.state, reported })
    .from(changes)
    .where(
      and(
        eq(changes.workspaceId, tenant.workspaceId),
        eq(changes.environment, tenant.environment),
        or(eq(changes.problemId, problemId), inArray(changes.id, changeIds)),
      ),
    )
    .orderBy(
      inArray(changes.status, [...endedChangeStatuses]),
      reported,
      ne(changes.id, changeId),
      desc(changes.id),
    )
    .limit(maxReported)
  const linkedChanges = rows.map((row) => ({ reported: row.reported, ...ChangeState.parse(row.state) }))
  if (
    !linkedChanges.every(isOver) ||
    !linkedChanges.some((change) => change.id === changeId && !change.reported)
  )
    return null
  return linkedChanges.map(({ id, number, status, outcome }) => ({ id, number, status, outcome }))
}
