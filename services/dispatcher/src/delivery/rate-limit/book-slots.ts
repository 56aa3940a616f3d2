import type { Database } from '@opsplane/postgres'
import type { Booking, Bookings } from './rate-limit-scheduler.js'

interface Answer {
  per_second: number
  interval_ms: number
  slots: number
  first_in_ms: number | null
  free_in_ms: number | null
}

/**
 * Bookings in Postgres, shared by all replicas and kept over restarts, by the database's clock. Uses the current limit
 * of the webhook, not the limit at the time a job was queued.
 */
export function createBookings(sql: Database['sql']): Bookings {
  return async ({ webhookId, perSecond, count, slackMs, aheadMs, astrayMs }): Promise<Booking> => {
    const parameters = [webhookId, perSecond, count, slackMs, aheadMs, astrayMs]
    const [row] = await sql.unsafe<Answer[]>(bookStatement, parameters, { prepare: true })
    if (!row) return { kind: 'gone' }
    if (row.first_in_ms === null) return { kind: 'taken', freeInMs: row.free_in_ms ?? 0 }
    const { per_second, interval_ms, slots, first_in_ms } = row
    return {
      kind: 'booked',
      firstInMs: first_in_ms,
      count: slots,
      intervalMs: interval_ms,
      perSecond: per_second,
    }
  }
}

// Nothing is booked more than $5 ms ahead, so a valid `next_at` is at most that plus one booking ahead. If it is
// further ahead, the limit was raised or a clock was set back, and the slots restart.
// The share lock prevents a booking from outliving its webhook.
const bookStatement = `
with asked as materialized (
  select w.id, schedule.per_second, now_ms()::float8 as at,
    1000 / schedule.per_second + greatest($4::float8,
      case when schedule.per_second <= 4 then least(1000, 50 / schedule.per_second) else 0 end) as interval_ms,
    least($3::int, greatest(1, ceil(schedule.per_second / 4)))::int as slots
  from webhooks w cross join lateral (
    select coalesce((w.state->>'rateLimitPerSecond')::float8, $2::float8) as per_second) schedule
  where w.id = $1 for key share of w
),
booked as (
  insert into webhook_pace as schedule (webhook_id, next_at)
  select id, at + slots * interval_ms from asked
  on conflict (webhook_id) do update set
    next_at = excluded.next_at + case when schedule.next_at > excluded.next_at + $6::float8 then 0
      else greatest(schedule.next_at - (select at from asked), 0) end
  where schedule.next_at <= (select at from asked) + $5::float8 or schedule.next_at > excluded.next_at + $6::float8
  returning next_at
)
select asked.per_second, asked.interval_ms, asked.slots,
  booked.next_at - asked.slots * asked.interval_ms - asked.at as first_in_ms,
  (select next_at from webhook_pace where webhook_id = $1) - asked.at as free_in_ms
from asked left join booked on true`
