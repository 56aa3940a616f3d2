import type { Database } from '@opsplane/postgres'
import type { Metrics, Sample } from '@opsplane/telemetry'

const questionEveryMs = 10_000
const mostDue = 10_000

/** Has the deliveries counted that are due and that nobody has in hand. */
export function measureDue(metrics: Metrics, { sql }: Pick<Database, 'sql'>): void {
  metrics.gather(async (): Promise<Sample[]> => {
    const [row] = await sql.unsafe<{ due: number; age: number }[]>(
      `select count(*)::int as due, coalesce(now_ms() - min(due_at), 0)::float8 / 1000 as age from (
         select d.due_at from webhook_queues q cross join lateral (
           select due_at from deliveries d where d.webhook_id = q.webhook_id and d.due_at <= now_ms()
             and d.id >= q.oldest_id order by due_at limit ${mostDue}) d
         where q.status = 'active' and q.next_due_at <= now_ms() limit ${mostDue}) waits`,
    )
    return [
      { name: 'opsplane_deliveries_due', value: row?.due ?? 0 },
      { name: 'opsplane_deliveries_oldest_due_age_seconds', value: row?.age ?? 0 },
    ]
  }, questionEveryMs)
}
