import { PauseReason } from '@opsplane/contracts'
import type { Database } from '@opsplane/postgres'
import type { Metrics, Sample } from '@opsplane/telemetry'

/** Slightly less than multiples of the usual scrape interval of 15 s. */
const everyMs = { due: 10_000, paused: 55_000 }
const maxDue = 10_000
const maxQueues = 10_000

export interface QueueMetricsOptions {
  database: Pick<Database, 'sql'>
  /** Webhooks whose deliveries stay in Postgres because they have reached their limits in memory. */
  passedOver(): string[]
}

/**
 * Registers metrics for due, unleased deliveries, separately for those that wait for their
 * own webhook, and for paused webhooks.
 */
export function registerQueueMetrics(
  metrics: Metrics,
  { database: { sql }, passedOver }: QueueMetricsOptions,
): void {
  metrics.gather(async (): Promise<Sample[]> => {
    const [row] = await sql.unsafe<{ due: number; age: number; ownAge: number }[]>(dueStatement, [
      passedOver(),
    ])
    return [
      { name: 'opsplane_deliveries_due', value: row?.due ?? 0 },
      { name: 'opsplane_deliveries_oldest_due_age_seconds', value: row?.age ?? 0 },
      { name: 'opsplane_webhook_queue_age_seconds', value: row?.ownAge ?? 0 },
    ]
  }, everyMs.due)
  metrics.gather(async (): Promise<Sample[]> => {
    const rows = await sql<{ reason: string; count: number }[]>`
      select state->>'pausedReason' as reason, count(*)::int as count from webhooks where status = 'paused' group by 1`
    const counts = new Map(rows.map(({ reason, count }) => [reason, count]))
    return PauseReason.options.map((reason) => ({
      name: 'opsplane_webhooks_paused',
      labels: { reason },
      value: counts.get(reason) ?? 0,
    }))
  }, everyMs.paused)
}

/**
 * The backlog of a paused webhook is sent at its own pace, so it counts as waiting for the
 * webhook, like skipped deliveries.
 */
const dueStatement = `
with queues as materialized (
  select webhook_id, oldest_id, resumed_at, webhook_id = any ($1::text[]) as passed from webhook_queues
  where status = 'active' and next_due_at <= now_ms() limit ${maxQueues}
),
oldest as (
  select q.passed or d.due_at <= q.resumed_at as own, d.due_at
  from queues q cross join lateral (
    (select due_at from deliveries where webhook_id = q.webhook_id and status in ('pending', 'retrying')
       and due_at > q.resumed_at and due_at <= now_ms() and id >= q.oldest_id order by due_at limit 1)
    union all
    (select due_at from deliveries where webhook_id = q.webhook_id and status in ('pending', 'retrying')
       and due_at <= q.resumed_at and id >= q.oldest_id order by due_at limit 1)) d
)
select
  (select count(*)::int from (
     select from queues q cross join lateral (
       select from deliveries where webhook_id = q.webhook_id and status in ('pending', 'retrying')
         and due_at > q.resumed_at and due_at <= now_ms() and id >= q.oldest_id limit ${maxDue}) d
     where not q.passed limit ${maxDue}) waits) as due,
  (coalesce(now_ms() - min(due_at) filter (where not own), 0))::float8 / 1000 as age,
  (coalesce(now_ms() - min(due_at) filter (where own), 0))::float8 / 1000 as "ownAge"
from oldest`
