import { stringifyExact, type TenantScope } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { updateQueuesSql } from '../due-rows.js'
import type { EventPosition } from '../match/matching.js'
import { type AttemptColumns, attemptColumns, logAttemptsSql } from '../record/record-statement.js'

/** An event as stored with its deliveries, as JSON. */
export interface StoredEvent {
  id: string
  tenant: TenantScope
  json: string
}

/** Property names are the columns of the recordset. */
export interface NewDelivery {
  id: string
  workspace_id: string
  environment: string
  webhook_id: string
  event_id: string
  event_type: string
  url: string
  bytes: number
  /** Duration of the lease by `owner`; null if the delivery is not leased. */
  lease_ms: number | null
  /** Not due yet, because earlier deliveries of its ordering queue come first. */
  waits: boolean
  ordering_key: string | null
  ordering_place: string | null
  created_at: string
}

export interface FanOutBatch {
  now: string
  events: readonly StoredEvent[]
  deliveries: readonly NewDelivery[]
  /** First attempts that have already succeeded. */
  attempts: readonly AttemptColumns[]
  /** Positions of all events of the batch, including those without deliveries. */
  origins: readonly EventPosition[]
  /** Webhook revisions from which the deliveries were derived. */
  revisions: readonly (TenantScope & { revision: number })[]
}

/**
 * Inserts a batch in one statement, if the tenants' webhooks still have these revisions. Returns the ids of new
 * deliveries; `undefined`, with nothing written, if some webhook was changed.
 */
export async function insertBatch(
  sql: Database['sql'],
  owner: string,
  batch: FanOutBatch,
): Promise<Set<string> | undefined> {
  const { now, events, deliveries, attempts, origins, revisions } = batch
  const kept = events.map(
    ({ id, tenant: { workspaceId, environment }, json }) =>
      `{"event_id":${stringifyExact(id)},"workspace_id":${stringifyExact(workspaceId)},"environment":"${environment}","event":${json}}`,
  )
  const parameters = [
    stringifyExact(revisions),
    revisions.length,
    stringifyExact(marksOf(origins)),
    `[${kept.join(',')}]`,
    stringifyExact(deliveries),
    stringifyExact(attempts),
    owner,
    now,
  ]
  const [row] = await sql.unsafe<{ current: boolean; made: string[] | null }[]>(insertStatement, parameters, {
    prepare: true,
  })
  return row?.current ? new Set(row.made) : undefined
}

function marksOf(origins: readonly EventPosition[]) {
  const bySource = new Map<string, number[]>()
  for (const { source, position } of origins)
    bySource.set(source, [...(bySource.get(source) ?? []), position])
  return [...bySource].map(([source, positions]) => ({ source, last: Math.max(...positions), positions }))
}

// The share lock serializes this statement with changes of the tenant's webhooks: see ADR 040.
// json instead of jsonb, to keep the event's text unchanged.
export const insertStatement = `
with expected as materialized (
  select from json_to_recordset($1::text::json) as e ("workspaceId" text, environment text, revision bigint)
  join webhook_revisions r on r.workspace_id = e."workspaceId" and r.environment = e.environment
    and r.revision = e.revision
  order by r.workspace_id, r.environment for share of r
),
checked as materialized (select (select count(*) from expected) = $2::int as current, now_ms() as at),
marked as (
  insert into fan_out_marks (source, last, positions)
  select source, last, positions from json_to_recordset($3::text::json) as m (source text, last bigint, positions bigint[])
  where (select current from checked)
),
kept as (
  insert into delivery_events (event_id, workspace_id, environment, event, created_at)
  select event_id, workspace_id, environment, event, $8::text
  from json_to_recordset($4::text::json) as e (event_id text, workspace_id text, environment text, event json)
  where (select current from checked)
  on conflict (event_id) do nothing
),
attempts as materialized (
  select * from json_to_recordset($6::text::json) as a (${attemptColumns})
),
made as (
  insert into deliveries (id, workspace_id, environment, webhook_id, event_id, event_type, url, bytes, status, attempts,
    due_at, lease_owner, ordering_key, ordering_place, created_at,
    last_attempt_at, last_response_status, last_response_body, last_duration_ms, change_position)
  select d.id, d.workspace_id, d.environment, d.webhook_id, d.event_id, d.event_type, d.url, d.bytes,
    case when a.id is null then 'pending' else 'succeeded' end, case when a.id is null then 0 else 1 end,
    case when a.id is null and not d.waits then checked.at + coalesce(d.lease_ms, 0) end,
    case when a.id is null and d.lease_ms is not null then $7::text end,
    d.ordering_key, d.ordering_place, d.created_at,
    a.started_at, a.response_status, a.body_start, a.duration_ms,
    case when a.id is not null then nextval('delivery_changes') end
  from checked cross join json_to_recordset($5::text::json) as d (id text, workspace_id text, environment text,
    webhook_id text, event_id text, event_type text, url text, bytes int, lease_ms bigint, waits boolean,
    ordering_key text, ordering_place text, created_at text)
  left join attempts a on a.id = d.id
  where checked.current
  on conflict (id) do nothing
  returning id, webhook_id, workspace_id, environment, due_at
),
logged as (${logAttemptsSql('1', 'made join attempts using (id)')}),
healthy as (
  update webhook_health h set consecutive_failures = 0, peak = 0
  where consecutive_failures > 0 and webhook_id in (select made.webhook_id from made join attempts using (id))
),
queued as (${updateQueuesSql('made')})
select (select current from checked) as current, (select json_agg(id) from made) as made`
