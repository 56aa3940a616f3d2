import type { StatementRunner } from '@opsplane/postgres'

/** At the latest one in line is looked at again so many seconds later; at once when what is before it ends. */
export const recheckSeconds = 5

/** Others of the trigger of `own` that go on or wait, and were begun before it: by the database's clock, as all their times. */
const earlier = (own: string) => `select from executions before
  where before.trigger_id = ${own}.trigger_id and before.completed_at is null
    and (before.started_at, before.id) < (${own}.started_at, ${own}.id)`

/** Lets go of an execution while others of its trigger are before it; false where it is its turn. `at`: a simulated time. */
export async function waitForEarlierExecutions(
  sql: StatementRunner,
  { id, fence }: { id: string; fence: string },
  at: string | null,
): Promise<boolean> {
  const rows = await sql.unsafe(
    `update executions own set lease_owner = null,
       held_until = coalesce($3::text::timestamptz, clock_timestamp()) + interval '${recheckSeconds} s'
     where id = $1 and lease_fence = $2::text::bigint and completed_at is null and exists (${earlier('own')})
     returning 1`,
    [id, fence, at],
    { prepare: true },
  )
  return rows.length > 0
}

/** Has the first of those that wait in line behind what a trigger has begun looked at now. */
export async function wakeNextExecution(sql: StatementRunner, triggerId: string): Promise<void> {
  await sql.unsafe(
    `update executions set held_until = null where completed_at is null and lease_owner is null and id = (
       select id from executions where trigger_id = $1 and completed_at is null order by started_at, id limit 1)`,
    [triggerId],
    { prepare: true },
  )
}
