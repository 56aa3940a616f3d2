import { stringifyExact } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import { updateQueuesSql } from '../due-rows.js'

/** The stored columns of one attempt; property names are the columns of the recordset. */
export interface AttemptColumns {
  /** Delivery id. */
  id: string
  started_at: string
  url: string
  duration_ms: number
  request_headers: Record<string, string>
  response_status: number | null
  response_headers: Record<string, string> | null
  response_body: string | null
  /** The beginning of the body, stored in the delivery's row. */
  body_start: string | null
  response_truncated: boolean | null
  error_kind: string | null
  error_message: string | null
  dns_ms: number | null
  connect_ms: number | null
  tls_ms: number | null
  first_byte_ms: number | null
  total_ms: number | null
  is_connection_reused: boolean | null
}

export const attemptColumns = `id text, started_at text, url text, duration_ms int, request_headers json,
    response_status int, response_headers json, response_body text, body_start text, response_truncated boolean,
    error_kind text, error_message text, dns_ms int, connect_ms int, tls_ms int, first_byte_ms int, total_ms int,
    is_connection_reused boolean`

const loggedColumns = `started_at, duration_ms, url, request_headers, response_status, response_headers, response_body,
    response_truncated, error_kind, error_message, dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms, is_connection_reused`

/** Part of a statement that logs attempts; `attempts` has their columns and the delivery's tenant. */
export const logAttemptsSql = (number: string, attempts: string) => `
  insert into delivery_attempts (delivery_id, number, workspace_id, environment, ${loggedColumns})
  select id, ${number}, workspace_id, environment, ${loggedColumns} from ${attempts}
  on conflict do nothing`

/** A result in the form of the statement's input. */
export interface ResultRow extends AttemptColumns {
  /** Position in the order in which the attempts ended. */
  seq: number
  /** The attempt's number. Only the first result recorded for a number counts. */
  number: number
  /** The webhook's epoch when the attempt started: failures from before a resume do not count after it. */
  epoch: number
  status: 'succeeded' | 'retrying' | 'failed' | 'postponed'
  /** Milliseconds until the next attempt. */
  due_in_ms: number | null
}

export interface Recorded {
  /** Webhooks with five or more consecutive failures in their present epoch. */
  failing: { webhookId: string; epoch: number; failures: number }[]
  /** Webhooks of these results that are now paused. */
  paused: string[]
}

/**
 * Records results in one statement: deliveries, attempts, and the number of consecutive failures. A result whose number
 * is already recorded changes nothing, except that a success always counts; nothing changes after a success. If another
 * replica holds the lease by now, the result leaves that lease unchanged, and the next attempt is not due before it
 * ends.
 */
export async function recordResults(
  sql: Pick<Database['sql'], 'unsafe'>,
  rows: ResultRow[],
  { owner, failuresToPause }: { owner: string; failuresToPause: number },
): Promise<Recorded> {
  const ids = rows.map(({ id }) => id).sort()
  // The range from lowest to highest id, so that partitions of other days are not read.
  const parameters = [stringifyExact(rows), failuresToPause, ids.at(0) ?? '', ids.at(-1) ?? '', owner]
  const [row] = await sql.unsafe<Recorded[]>(recordStatement, parameters, { prepare: true })
  return row ?? { failing: [], paused: [] }
}

export const recordStatement = `
with results as materialized (
  select * from jsonb_to_recordset($1::text::jsonb) as r (
    seq int, number int, epoch int, status text, due_in_ms bigint, ${attemptColumns})
),
postponed as (
  update deliveries d set due_at = now_ms() + r.due_in_ms, lease_owner = null
  from results r
  where d.id = r.id and d.id between $3 and $4 and r.status = 'postponed' and d.attempts < r.number
    and d.status in ('pending', 'retrying') and coalesce(d.lease_owner, $5) = $5
  returning d.webhook_id, d.id, d.due_at
),
recorded as (
  update deliveries d set
    status = r.status,
    attempts = greatest(d.attempts, r.number),
    due_at = case when r.status = 'retrying' then
      greatest(now_ms() + r.due_in_ms, case when d.lease_owner <> $5 then d.due_at end) end,
    lease_owner = case when r.status = 'retrying' then nullif(d.lease_owner, $5) end,
    url = r.url,
    last_attempt_at = r.started_at,
    last_response_status = r.response_status,
    last_response_body = r.body_start,
    last_duration_ms = r.duration_ms,
    last_error_kind = r.error_kind,
    last_error_message = r.error_message,
    change_position = nextval('delivery_changes')
  from results r
  where d.id = r.id and d.id between $3 and $4 and r.status <> 'postponed'
    and d.status <> 'succeeded' and (d.attempts < r.number or r.status = 'succeeded')
  returning d.id, d.webhook_id, d.workspace_id, d.environment, d.status, d.due_at, r.seq, r.epoch
),
logged as (${logAttemptsSql('number', 'recorded join results using (id)')}),
-- Failures in a row: each success begins a new run, run 0 goes on from the count so far.
ended as (
  select webhook_id, epoch, status,
    count(*) filter (where status = 'succeeded') over (partition by webhook_id, epoch order by seq) as run
  from recorded where status in ('succeeded', 'failed')
),
runs as (
  select webhook_id, epoch, run, count(*) filter (where status = 'failed')::int as failures
  from ended group by webhook_id, epoch, run
),
tallies as (
  select webhook_id, epoch, max(run) > 0 as interrupted,
    coalesce(max(failures) filter (where run = 0), 0) as first_run,
    coalesce(max(failures) filter (where run > 0), 0) as longest_later,
    (array_agg(failures order by run desc))[1] as last_run
  from runs group by webhook_id, epoch
),
counted as (
  select t.* from tallies t join webhooks w on w.id = t.webhook_id and (w.state->>'epoch')::int = t.epoch
  -- Most deliveries succeed on a webhook without failures, which changes nothing.
  where t.first_run > 0 or t.longest_later > 0
    or exists (select 1 from webhook_health h where h.webhook_id = t.webhook_id and h.consecutive_failures > 0)
),
health as (
  insert into webhook_health as h (webhook_id, epoch, consecutive_failures, peak)
  select webhook_id, epoch, case when interrupted then last_run else first_run end, greatest(first_run, longest_later)
  from counted order by webhook_id
  on conflict (webhook_id) do update set (epoch, consecutive_failures, peak) = (
    select c.epoch,
      case when c.interrupted then c.last_run else so_far.failures + c.first_run end,
      greatest(so_far.failures + c.first_run, c.longest_later)
    from counted c,
      lateral (select case when h.epoch = c.epoch then h.consecutive_failures else 0 end as failures) so_far
    where c.webhook_id = h.webhook_id)
  returning webhook_id, epoch, consecutive_failures, peak
),
waiting as (select webhook_id, id, due_at from postponed union all select webhook_id, id, due_at from recorded),
queued as (${updateQueuesSql('waiting')})
select
  coalesce((
    select json_agg(json_build_object('webhookId', webhook_id, 'epoch', epoch, 'failures', peak))
    from health where peak >= $2::int), '[]') as failing,
  coalesce((
    select json_agg(w.id) from webhooks w
    where w.status = 'paused'
      and w.id in (select webhook_id from recorded union all select webhook_id from postponed)), '[]') as paused`
