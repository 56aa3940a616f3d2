import type { Database } from '@opsplane/postgres'
import { delay } from '@opsplane/runtime'

const pollMs = 20

/**
 * A position up to which every event there will ever be is visible. Positions are drawn by transactions that have locked
 * the outbox before, and keep it until they end: those that had it when the sequence stood here have ended.
 */
export async function settledPosition(sql: Pick<Database['sql'], 'unsafe'>): Promise<string> {
  const [last] = await sql.unsafe<{ position: string }[]>(
    'select case when is_called then last_value else 0 end::text as position from events_position_seq',
  )
  const writing = (await sql.unsafe<{ writer: string }[]>(writers)).map(({ writer }) => writer)
  for (let left = new Set(writing); left.size > 0; ) {
    await delay(pollMs)
    const still = new Set((await sql.unsafe<{ writer: string }[]>(writers)).map(({ writer }) => writer))
    left = new Set([...left].filter((writer) => still.has(writer)))
  }
  return last?.position ?? '0'
}

const writers = `
  select distinct virtualtransaction as writer from pg_locks
  where locktype = 'relation' and database = (select oid from pg_database where datname = current_database())
    and relation = to_regclass('outbox') and mode = 'RowExclusiveLock' and granted`
