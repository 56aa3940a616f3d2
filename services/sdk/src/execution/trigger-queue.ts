import type { StatementRunner } from '@opsplane/postgres'

/**
 * Maximum delay in seconds before a waiting execution is checked again. The end of an earlier one triggers an immediate
 * check.
 */
export const recheckSeconds = 5

/** Earlier executions of the same trigger that have not ended. All times are from the database clock. */
const earlier = (own: string) => `select from executions before
  where before.trigger_id = ${own}.trigger_id and before.completed_at is null
    and (before.started_at, before.id) < (${own}.started_at, ${own}.id)`

/**
 * Releases the lease of an execution while earlier ones of its trigger have not ended. Returns false if it may run.
 * @param at simulated time, if any
 */
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

/** Makes the first waiting execution of a trigger due immediately. */
export async function wakeNextExecution(sql: StatementRunner, triggerId: string): Promise<void> {
  await sql.unsafe(
    `update executions set held_until = null where completed_at is null and lease_owner is null and id = (
       select id from executions where trigger_id = $1 and completed_at is null order by started_at, id limit 1)`,
    [triggerId],
    { prepare: true },
  )
}
