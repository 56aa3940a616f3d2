import type { Database } from '@opsplane/postgres'
import { z } from 'zod'
import type { WebhookRow } from '../webhook/target.js'
import type { Line } from './turn-statement.js'
import type { WaitingDays } from './waiting-days.js'

/** The column that tells in which epoch a webhook is. */
export const webhookStateEpoch = (alias: string) => `(${alias}.state->>'epoch')::int`

export interface ClaimOptions {
  owner: string
  nowMs: number
  /** Beyond the webhook's own timeout. */
  leaseMs: number
  /** Webhooks to pass over. */
  except: string[]
  perWebhook: number
  limit: number
  /** The webhook served last: those after it come first. */
  servedLast: string
  /** The days deliveries can be waiting in. */
  days: WaitingDays
}

const Claimed = z.object({
  id: z.string(),
  webhook_id: z.string(),
  status: z.enum(['pending', 'retrying', 'held', 'failed']),
  attempts: z.int(),
  cycle_base: z.int(),
  ordering_key: z.string().nullable(),
  lease_ends: z.number().nullable(),
  event: z.string().nullable(),
  webhook: z
    .object({
      id: z.string(),
      workspace_id: z.string(),
      environment: z.string(),
      version: z.int(),
      state: z.unknown(),
    })
    .nullable(),
})
export type Claimed = Omit<z.infer<typeof Claimed>, 'webhook'> & { webhook: WebhookRow | null }

const Answer = z.object({ claimed: z.array(Claimed), next_due: z.number().nullable() })

/**
 * Leases deliveries whose attempt is due or whose lease has ended, a few per webhook, so that one with a long
 * backlog leaves room for others. Those of a paused webhook become held, those of a deleted one fail.
 * `next_due`: Unix ms of the earliest delivery due later.
 */
export async function claimDue(sql: Database['sql'], options: ClaimOptions) {
  const { owner, nowMs, leaseMs, except, perWebhook, limit, servedLast, days } = options
  const parameters = [owner, nowMs, leaseMs, except, perWebhook, limit, servedLast, days.starts, days.ends]
  const [row] = await sql.unsafe(claimStatement, parameters, { prepare: true })
  return Answer.parse(row)
}

// One look per day, which its order leads to the due index, finds the first day with something waiting; the partitions
// of earlier days are not looked at again. The recursive part walks that index from webhook to webhook, without
// reading what lies between.
export const claimStatement = `
with recursive first_day as materialized (
  select min(least) as least from unnest($8::text[], $9::text[]) as days (least, after)
  where (select webhook_id from deliveries
         where id >= days.least and id < days.after and status in ('pending', 'retrying')
         order by webhook_id limit 1) is not null
),
waiting as (
  (select webhook_id from deliveries where status in ('pending', 'retrying') and id >= (select least from first_day)
   order by webhook_id limit 1)
  union all
  select (select d.webhook_id from deliveries d
          where d.status in ('pending', 'retrying') and d.webhook_id > waiting.webhook_id
            and d.id >= (select least from first_day)
          order by d.webhook_id limit 1)
  from waiting where waiting.webhook_id is not null
),
served as (
  select webhook_id from waiting where webhook_id is not null and webhook_id <> all ($4::text[])
  order by webhook_id <= $7::text, webhook_id
),
due as (
  select d.id, served.webhook_id from served cross join lateral (
    select id from deliveries
    where webhook_id = served.webhook_id and status in ('pending', 'retrying') and due_at <= $2::bigint
      and id >= (select least from first_day)
    order by due_at limit $5::int for update skip locked) d
  limit $6::int
),
leased as (
  update deliveries d set
    status = case when w.id is null then 'failed' when w.status = 'paused' then 'held' else d.status end,
    lease_owner = case when w.status = 'active' then $1::text end,
    due_at = case when w.status = 'active' then $2::bigint + $3::bigint + (w.state->>'timeoutMs')::bigint end,
    last_error_kind = case when w.id is null then 'webhook_deleted' else d.last_error_kind end,
    last_error_message = case when w.id is null then 'The webhook was deleted.' else d.last_error_message end
  from due left join webhooks w on w.id = due.webhook_id
  where d.id = due.id and d.id = any (array(select id from due)) and d.id >= (select least from first_day)
  returning d.id, d.status, d.attempts, d.cycle_base, d.ordering_key, d.due_at, d.event_id, d.webhook_id
)
select
  coalesce((
    select json_agg(json_build_object(
      'id', l.id, 'webhook_id', l.webhook_id, 'status', l.status, 'attempts', l.attempts, 'cycle_base', l.cycle_base,
      'ordering_key', l.ordering_key, 'lease_ends', l.due_at,
      'event', (select e.event::text from delivery_events e where e.event_id = l.event_id),
      'webhook', case when w.id is not null then json_build_object('id', w.id, 'workspace_id', w.workspace_id,
        'environment', w.environment, 'version', w.version, 'state', w.state) end) order by l.id)
    from leased l left join webhooks w on w.id = l.webhook_id), '[]') as claimed,
  (select min(next.due_at)::float8 from served cross join lateral (
    select due_at from deliveries
    where webhook_id = served.webhook_id and status in ('pending', 'retrying') and due_at > $2::bigint
      and id >= (select least from first_day)
    order by due_at limit 1) next) as next_due`

/**
 * Makes held deliveries of active webhooks due, the oldest first, at most `perWebhook` of each. Those that are sent in
 * order wait for their turn instead, in the lines returned.
 */
export async function drainHeld(
  sql: Database['sql'],
  nowMs: number,
  perWebhook: number,
): Promise<{ drained: number; lines: Line[] }> {
  const rows = await sql.unsafe<{ webhook_id: string; ordering_key: string | null }[]>(
    drainStatement,
    [nowMs, perWebhook],
    { prepare: true },
  )
  const lines = rows.flatMap(({ webhook_id, ordering_key }) =>
    ordering_key === null ? [] : [{ webhookId: webhook_id, key: ordering_key }],
  )
  return { drained: rows.length, lines }
}

const drainStatement = `
with recursive waiting as (
  (select webhook_id from deliveries where status = 'held' order by webhook_id limit 1)
  union all
  select (select d.webhook_id from deliveries d
          where d.status = 'held' and d.webhook_id > waiting.webhook_id order by d.webhook_id limit 1)
  from waiting where waiting.webhook_id is not null
),
drained as (
  select d.id from waiting join webhooks w on w.id = waiting.webhook_id and w.status = 'active'
  cross join lateral (
    select id from deliveries where webhook_id = w.id and status = 'held'
    order by id limit $2::int for update skip locked) d
)
update deliveries d
set status = case when d.attempts > d.cycle_base then 'retrying' else 'pending' end,
  due_at = case when d.ordering_key is null then $1::bigint end
from drained where d.id = drained.id
returning d.webhook_id, d.ordering_key`

/** Puts what is not under way any more of a paused webhook aside. */
export async function holdDeliveries(sql: Pick<Database['sql'], 'unsafe'>, webhookId: string): Promise<void> {
  await sql.unsafe(
    `update deliveries set status = 'held', due_at = null, lease_owner = null
     where webhook_id = $1 and status in ('pending', 'retrying')`,
    [webhookId],
    { prepare: true },
  )
}

/** Ends the deliveries of a deleted webhook. */
export async function failDeliveries(sql: Database['sql'], webhookId: string): Promise<void> {
  await sql.unsafe(
    `update deliveries set status = 'failed', due_at = null, lease_owner = null,
       last_error_kind = 'webhook_deleted', last_error_message = 'The webhook was deleted.'
     where webhook_id = $1 and status in ('pending', 'retrying', 'held')`,
    [webhookId],
    { prepare: true },
  )
}

/** Ends deliveries leased to this replica whose event is not there, or not readable. */
export async function failWithoutEvent(sql: Database['sql'], owner: string, ids: string[]): Promise<void> {
  if (ids.length === 0) return
  await sql.unsafe(
    `update deliveries set status = 'failed', due_at = null, lease_owner = null,
       last_error_kind = 'event_missing', last_error_message = 'The event is not kept any more, or is not readable.'
     where id = any ($1::text[]) and lease_owner = $2 and status in ('pending', 'retrying')`,
    [ids, owner],
    { prepare: true },
  )
}

/** Gives leases back, so that another replica, or this one after its restart, need not wait for their end. */
export async function releaseLeases(sql: Database['sql'], owner: string, ids: string[], nowMs: number) {
  if (ids.length === 0) return
  await sql.unsafe(
    `update deliveries set due_at = $3::bigint, lease_owner = null
     where id = any ($1::text[]) and lease_owner = $2 and status in ('pending', 'retrying')`,
    [ids, owner, nowMs],
    { prepare: true },
  )
}
