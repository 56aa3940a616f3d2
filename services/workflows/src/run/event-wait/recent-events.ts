import { patternMatches } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import type { AwaitTask } from '../active-run.js'
import type { RunIdentity } from '../model.js'
import { runStatement } from '../store/store.js'
import {
  type AcceptedEvent,
  type EventBody,
  type LogPositions,
  listEventKeys,
  matchesEventFilter,
  toEventBody,
} from './accepted-event.js'

/**
 * Stores each event with one of these keys, for which a step of some workflow version may wait, once, and returns them.
 * To be called before the events start anything: a step that begins to wait then finds here the events it is not sent.
 */
export async function storeAwaitedEvents(
  sql: Database['sql'],
  accepted: readonly AcceptedEvent[],
  awaitedKeys: ReadonlySet<string>,
): Promise<AcceptedEvent[]> {
  if (awaitedKeys.size === 0) return []
  const awaited = accepted.filter(({ event }) => listEventKeys(event).some((key) => awaitedKeys.has(key)))
  await keep(
    sql,
    awaited.filter(({ source, position }) => source !== null && position !== null),
  )
  return awaited
}

async function keep(sql: Database['sql'], accepted: readonly AcceptedEvent[]): Promise<void> {
  if (accepted.length === 0) return
  const rows = accepted.map(({ source, position, event }) => {
    const { workspaceId, environment, type, requestId } = event
    const tenant = { workspace_id: workspaceId, environment }
    return { source, position, ...tenant, type, body: toEventBody(event), request_id: requestId }
  })
  await runStatement(
    sql,
    `insert into recent_events (source, position, workspace_id, environment, type, body, request_id)
     select * from json_to_recordset($1::text::json) as kept (
       source text, position bigint, workspace_id text, environment text, type text, body json, request_id text)
     on conflict on constraint recent_events_pkey do nothing`,
    [JSON.stringify(rows)],
  )
}

interface RecentRow {
  /** In storage order. */
  id: string
  type: string
  body: EventBody
  request_id: string | null
}

/** An event that was stored before a step started to wait for it. */
export interface RecentEvent {
  task: string
  event: EventBody
  requestId: string | null
}

const rowsAtOnce = 200

/** Events of each service after its position. The index is used to skip from one service to the next. */
const recentEventsStatement = `
  with recursive sources(name) as (
    (select source from recent_events where workspace_id = $1 and environment = $2 order by source limit 1)
    union all
    select (select source from recent_events where workspace_id = $1 and environment = $2 and source > sources.name
      order by source limit 1)
    from sources where sources.name is not null)
  select id::text as id, type, body, request_id from sources join recent_events on source = sources.name
    and workspace_id = $1 and environment = $2 and id > $3::bigint
    and position > coalesce(($4::text::jsonb->>sources.name)::bigint, 0)
  order by recent_events.id limit ${rowsAtOnce}`

/** A search for events by steps that have started to wait, in a run started after these positions. */
export interface RecentEventQuery {
  identity: Pick<RunIdentity, 'id' | 'tenant'>
  since: LogPositions
  begun: readonly AwaitTask[]
  /** Ids of events that steps of the run have already consumed. */
  taken: readonly string[]
  /** Maximum number of events for each step: the number of steps that may compete for them. */
  maxEvents: number
}

/** The first events accepted since the run was started that these steps wait for. */
export async function findRecentEvents(
  sql: Database['sql'],
  { identity: { tenant }, since, begun, taken, maxEvents }: RecentEventQuery,
): Promise<RecentEvent[]> {
  if (begun.length === 0) return []
  const open = new Map(begun.map((task) => [task, 0]))
  const skipped = new Set(taken)
  const found: RecentEvent[] = []
  let after = '0'
  for (;;) {
    const rows = await runStatement<RecentRow>(sql, recentEventsStatement, [
      tenant.workspaceId,
      tenant.environment,
      after,
      JSON.stringify(since),
    ])
    for (const { type, body, request_id: requestId } of rows)
      for (const [task, count] of open) {
        if (skipped.has(body.id) || !isFor(task, type, body)) continue
        found.push({ task: task.id, event: body, requestId })
        if (count + 1 >= maxEvents) open.delete(task)
        else open.set(task, count + 1)
      }
    const last = rows.at(-1)
    if (!last || rows.length < rowsAtOnce || open.size === 0) return found
    after = last.id
  }
}

const isFor = ({ waiting }: AwaitTask, type: string, body: EventBody): boolean =>
  waiting.for === 'event' &&
  waiting.types.some((pattern) => patternMatches(pattern, type)) &&
  matchesEventFilter(waiting.filter, body)
