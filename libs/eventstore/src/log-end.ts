import type { StatementRunner } from '@opsplane/postgres'
import { delay } from '@opsplane/runtime'

/**
 * The end of the log, and the transactions that may still write below it. A transaction that draws positions locks
 * the outbox before that and keeps the lock until it ends. Once all these writers have ended, no further event can
 * appear up to `last`.
 */
export interface LogEdge {
  last: number
  /** Virtual ids of the transactions. */
  writers: string[]
  /** Bytes of WAL that were written when the end was read, and how many of them are on disk. */
  logged: number
  flushed: number
  /**
   * Changes when Postgres has crashed or another server has replaced it: positions whose WAL was not on disk are
   * then drawn again.
   */
  history: string
}

/**
 * The sequence that positions are drawn from, and the table that every transaction drawing one locks for writing
 * from before the draw until its end.
 */
export interface Positions {
  sequence: string
  table: string
}

const logPositions: Positions = { sequence: 'events_position_seq', table: 'outbox' }

/** A server in recovery draws no positions, and writes no WAL. */
const walOf = (end: 'insert' | 'flush') =>
  `case when pg_is_in_recovery() then 0 else (pg_current_wal_${end}_lsn() - '0/0')::float8 end`

/**
 * Recovery ends with a checkpoint, or on another timeline. Other checkpoints change it as well, which only costs
 * another query.
 */
const history = `case when pg_is_in_recovery() then '' else
  substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8) || ' ' || (select checkpoint_lsn from pg_control_checkpoint()) end`

/**
 * The end of the sequence is read before the locks: any transaction that drew a position up to there has its lock
 * by then.
 */
const edgeOf = ({ sequence, table }: Positions) => `
  select edge.last::float8 as last, ${walOf('insert')} as logged, ${walOf('flush')} as flushed,
    ${history} as history, array(
    select distinct virtualtransaction from pg_locks
    where edge.last is not null and locktype = 'relation' and mode = 'RowExclusiveLock' and granted
      and relation = '${table}'::regclass
      and database = (select oid from pg_database where datname = current_database())
  ) as writers
  from (select case when is_called then last_value else 0 end as last from ${sequence} offset 0) as edge`

export async function logEdge(sql: StatementRunner, of: Positions = logPositions): Promise<LogEdge> {
  const [row] = await sql.unsafe<LogEdge[]>(edgeOf(of), [], { prepare: true })
  return row ?? { last: 0, writers: [], logged: 0, flushed: 0, history: '' }
}

const pollMs = 20

/**
 * The end of the log at the time of the call, returned once all transactions that were then writing below it have
 * ended; `flushed` is current.
 */
async function settledEdge(sql: StatementRunner, of: Positions): Promise<Omit<LogEdge, 'writers'>> {
  const { writers, ...edge } = await logEdge(sql, of)
  for (let left = writers; left.length > 0; ) {
    await delay(pollMs)
    const now = await logEdge(sql, of)
    if (now.history !== edge.history) return settledEdge(sql, of)
    const still = new Set(now.writers)
    left = left.filter((writer) => still.has(writer))
    edge.flushed = now.flushed
  }
  return edge
}

/**
 * A position up to which every event (or other row with a position from the sequence) is visible and no further
 * one can appear, unless Postgres crashes: see `durablePosition`.
 */
export const settledPosition = async (sql: StatementRunner, of: Positions = logPositions): Promise<number> =>
  (await settledEdge(sql, of)).last

/**
 * Like `settledPosition`, but safe against a crash of Postgres. Positions that were drawn but whose WAL is not on
 * disk yet, such as those of a failed transaction, are drawn again after a crash: a checkpoint outside this
 * database would then miss events. Must not be called in a transaction.
 */
export async function durablePosition(sql: StatementRunner, of: Positions = logPositions): Promise<number> {
  const { last, logged, flushed, history } = await settledEdge(sql, of)
  if (flushed >= logged) return last
  // WAL before the end of a transaction is written with it, within a second if no commit waits for it.
  await sql.unsafe('select pg_current_xact_id()')
  for (;;) {
    const now = await logEdge(sql, of)
    if (now.history !== history) return durablePosition(sql, of)
    if (now.flushed >= logged) return last
    await delay(pollMs)
  }
}
