import type { Database } from '@opsplane/postgres'
import { z } from 'zod'
import type { Booking, Bookings } from './pacer.js'

const Answer = z.object({
  per_second: z.number(),
  interval_ms: z.number(),
  slots: z.int(),
  first_at: z.number().nullable(),
  free_at: z.number().nullable(),
})

/**
 * Bookings in Postgres, which all replicas share and restarts keep. The limit is the one the webhook has now,
 * not the one it had when a job was queued.
 */
export function createBookings(sql: Database['sql']): Bookings {
  return async ({ webhookId, perSecond, count, slackMs, nowMs, aheadMs, astrayMs }): Promise<Booking> => {
    const parameters = [webhookId, perSecond, count, slackMs, nowMs, aheadMs, astrayMs]
    const rows = await sql.unsafe(bookStatement, parameters, { prepare: true })
    const [row] = z.array(Answer).parse([...rows])
    if (!row) return { kind: 'gone' }
    if (row.first_at === null) return { kind: 'taken', freeAt: row.free_at ?? nowMs }
    const { per_second, interval_ms, slots, first_at } = row
    return { kind: 'booked', firstAt: first_at, count: slots, intervalMs: interval_ms, perSecond: per_second }
  }
}

// Nothing is booked more than $6 ms ahead. So `next_at` cannot legitimately lie further ahead than that and one
// booking: where it does, the limit was raised since, or a clock was set back, and the pace starts anew.
// The share lock keeps a booking from outliving its webhook.
const bookStatement = `
with asked as (
  select w.id, pace.per_second,
    1000 / pace.per_second + greatest($4::float8,
      case when pace.per_second <= 4 then least(1000, 50 / pace.per_second) else 0 end) as interval_ms,
    least($3::int, greatest(1, ceil(pace.per_second / 4)))::int as slots
  from webhooks w cross join lateral (
    select coalesce((w.state->>'rateLimitPerSecond')::float8, $2::float8) as per_second) pace
  where w.id = $1 for key share of w
),
booked as (
  insert into webhook_pace as pace (webhook_id, next_at)
  select id, $5::float8 + slots * interval_ms from asked
  on conflict (webhook_id) do update set
    next_at = excluded.next_at + case when pace.next_at > excluded.next_at + $7::float8 then 0
      else greatest(pace.next_at - $5::float8, 0) end
  where pace.next_at <= $5::float8 + $6::float8 or pace.next_at > excluded.next_at + $7::float8
  returning next_at
)
select asked.per_second, asked.interval_ms, asked.slots,
  booked.next_at - asked.slots * asked.interval_ms as first_at,
  (select next_at from webhook_pace where webhook_id = $1) as free_at
from asked left join booked on true`

/** Forgets the pace of a deleted webhook. */
export async function forgetPace(sql: Database['sql'], webhookId: string): Promise<void> {
  await sql.unsafe('delete from webhook_pace where webhook_id = $1', [webhookId], { prepare: true })
}
