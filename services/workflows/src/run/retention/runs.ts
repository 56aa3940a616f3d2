import { ExecutionRetention, environments } from '@opsplane/contracts'
import { startDaily } from '@opsplane/eventstore'
import type { ServiceClient } from '@opsplane/http'
import { type Database, lockTimedOut } from '@opsplane/postgres'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import { run } from '../store/store.js'
import { deleteRecentEvents, deleteSkippedTriggers, deleteTestedDrafts, deleteUnusedKeys } from './beside.js'

export interface RetentionOptions {
  sql: Database['sql']
  log: ServiceContext['log']
  /** For how many days each of these workspaces keeps its runs; those there are none of are absent. */
  daysOf(workspaceIds: string[]): Promise<Record<string, number>>
  nowMs(): number
}

const dayMs = 24 * 3_600_000
/** Of workspaces there are none of any more. */
const usualDays = 90
const workspacesAtOnce = 500
const runsAtOnce = 500

/** Deletes what runs have left once it is as old as their workspace says: now and every day. */
export function startRetention(
  { database: { sql }, log, clock }: ServiceContext,
  settings: Pick<ServiceClient, 'post'>,
): BackgroundWork {
  const daysOf = async (workspaceIds: string[]) =>
    (await settings.post('/internal/retention', { workspaceIds }, ExecutionRetention)).days
  const nowMs = () => Date.parse(clock.now())
  return startDaily(log, 'old runs could not be deleted', (closing) =>
    deleteOldRuns({ sql, log, daysOf, nowMs }, closing),
  )
}

/**
 * Runs that ended longer ago than their workspace keeps them go with all that belongs to them: whole months where nothing
 * in them is to be kept, else in batches. One that has not ended stays, however old it is. Any number of replicas may do so
 * at once.
 */
export async function deleteOldRuns(options: RetentionOptions, closing: AbortSignal): Promise<void> {
  const kept = await keptDays(options, closing)
  await dropMonths(options, kept, closing)
  let deleted = 0
  for (const [workspaceId, days] of kept) {
    const before = new Date(options.nowMs() - days * dayMs).toISOString()
    await deleteSkippedTriggers(options.sql, { workspaceId, since: before }, closing)
    for (let batch = runsAtOnce; batch === runsAtOnce && !closing.aborted; deleted += batch)
      batch = await deleteBatch(options.sql, workspaceId, before)
  }
  await deleteRecentEvents(options.sql, options.nowMs(), closing)
  await deleteUnusedKeys(options.sql, closing)
  await deleteTestedDrafts(options.sql, options.nowMs(), closing)
  if (deleted > 0) options.log.info({ runs: deleted }, 'old runs deleted')
}

/** Days, of every workspace that has runs. */
async function keptDays(
  { sql, daysOf }: RetentionOptions,
  closing: AbortSignal,
): Promise<Map<string, number>> {
  const kept = new Map<string, number>()
  for (let after = ''; !closing.aborted; ) {
    const found = await workspacesAfter(sql, after)
    const days = found.length > 0 ? await daysOf(found) : {}
    for (const id of found) kept.set(id, days[id] ?? usualDays)
    if (found.length < workspacesAtOnce) break
    after = found.at(-1) ?? after
  }
  return kept
}

/** From one workspace to the next by the index, past the runs of each. */
async function workspacesAfter(sql: Database['sql'], after: string): Promise<string[]> {
  const rows = await run<{ id: string }>(
    sql,
    `with recursive found(id) as (
       (select workspace_id from runs where workspace_id > $1 order by workspace_id limit 1)
       union all
       select (select workspace_id from runs where workspace_id > found.id order by workspace_id limit 1)
       from found where found.id is not null)
     select id from found where id is not null limit $2::int`,
    [after, String(workspacesAtOnce)],
  )
  return rows.map(({ id }) => id)
}

/** Months that ended so long ago, oldest first. */
async function dropMonths(
  { sql, log, nowMs }: RetentionOptions,
  kept: ReadonlyMap<string, number>,
  closing: AbortSignal,
) {
  const since = new Date(nowMs() - usualDays * dayMs).toISOString()
  const longer = [...kept].filter(([, days]) => days > usualDays).map(([id]) => id)
  for (const month of await monthsBefore(sql, since)) {
    if (closing.aborted) return
    try {
      const text = 'select drop_run_month($1::text::date, $2::text::timestamptz, $3::text[]) as dropped'
      const [row] = await run<{ dropped: boolean }>(sql, text, [month, since, longer])
      if (row?.dropped) log.info({ month }, 'the runs of a month dropped')
    } catch (error) {
      if (!lockTimedOut(error)) throw error
      log.info({ month }, 'a month is dropped later, as its lock was not to be had')
    }
  }
}

/** First days of the months that were over by then, as partitions are named. */
async function monthsBefore(sql: Database['sql'], instant: string): Promise<string[]> {
  const rows = await run<{ name: string }>(
    sql,
    `select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
     where i.inhparent = 'runs'::regclass order by 1`,
    [],
  )
  const present = `${instant.slice(0, 7)}-01`
  return rows
    .map(({ name }) => name.replace(/^.*_(\d{4})(\d\d)$/, '$1-$2-01'))
    .filter((month) => month < present)
}

/** How many were deleted: fewer than a batch where there are no more. */
async function deleteBatch(sql: Database['sql'], workspaceId: string, before: string): Promise<number> {
  const beside = ['run_entries', 'run_triggers', 'run_signals', 'run_event_waits', 'run_approvers']
  const parts = beside.map(
    (name) => `${name}_gone as (delete from ${name} where run_id in (select id from gone))`,
  )
  const [row] = await run<{ count: number }>(
    sql,
    `with gone as materialized (
       select id from runs
       where workspace_id = $1 and environment = any($3::text[]) and ended_at < $2::text::timestamptz
         and id < 'run_' || ulid_start(($2::text::timestamptz at time zone 'UTC')::date + 1)
       order by id limit ${runsAtOnce} for update skip locked),
     ${parts.join(',\n')},
     deleted as (delete from runs where id in (select id from gone) returning 1)
     select count(*)::int as count from deleted`,
    [workspaceId, before, [...environments]],
  )
  return row?.count ?? 0
}
