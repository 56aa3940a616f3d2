import type { StatementRunner } from '@opsplane/postgres'
import { runStatement } from '../store/store.js'

/** The concurrency limit shared by the runs of one workflow with the same key. */
export interface KeyedLimit {
  /** Unique over all workflows. */
  key: string
  limit: number
  whenFull: 'queue' | 'skip' | 'cancel_oldest'
}

/** The decision on a new run with a key. */
export type Admission = { starts: true } | { starts: false; cancel: string[] }

/** Locks the key until the transaction ends, and returns whether one more run may start. */
export async function admitRun(
  tx: StatementRunner,
  { key, limit, whenFull }: KeyedLimit,
): Promise<Admission> {
  await runStatement(
    tx,
    `insert into run_concurrency (key, run_limit) values ($1, $2::int)
     on conflict on constraint run_concurrency_pkey do update set run_limit = excluded.run_limit`,
    [key, String(limit)],
  )
  const open = await runStatement<{ id: string; parked: boolean }>(
    tx,
    `select id, due_at is null as parked from runs
     where concurrency_key = $1 and ended_at is null order by id`,
    [key],
  )
  if (open.length < limit) return { starts: true }
  const oldest = open.slice(0, open.length - limit + 1).map(({ id }) => id)
  return { starts: false, cancel: whenFull === 'cancel_oldest' ? oldest : [] }
}

/** Starts queued runs with a key, oldest first. Returns whether there were any. */
export async function admitNextRuns(tx: StatementRunner, key: string, at: string | null): Promise<boolean> {
  // Locked in a separate statement, so that the next one sees everything committed until then.
  await runStatement(tx, 'select 1 from run_concurrency where key = $1 for update', [key])
  const rows = await runStatement(
    tx,
    `with free as (
       select run_limit - (select count(*) from runs
         where concurrency_key = $1 and ended_at is null and due_at is not null) as places
       from run_concurrency where key = $1),
     next as (
       select id from runs where concurrency_key = $1 and ended_at is null and due_at is null
       order by id limit (select greatest(places, 0) from free))
     update runs set due_at = coalesce($2::text::timestamptz, now()) where id in (select id from next) returning id`,
    [key, at],
  )
  return rows.length > 0
}
