import type { Database } from '@opsplane/postgres'
import { runStatement } from '../store/store.js'

type Sql = Database['sql']

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const rowsAtOnce = 1_000
const before = (nowMs: number, ms: number) => new Date(nowMs - ms).toISOString()

/** Repeats a deletion until it deletes fewer rows than a batch. */
async function inBatches(closing: AbortSignal, batch: () => Promise<readonly object[]>): Promise<void> {
  while (!closing.aborted && (await batch()).length === rowsAtOnce);
}

/** A run just started by an older event must find the events that followed it. */
const leastKeptMs = hourMs
/** Events accepted longer ago than this are not found, however long a run has been active. */
const maxKeptMs = 7 * dayMs

/** Deletes events that are too old to be found by runs. */
export const deleteRecentEvents = (sql: Sql, nowMs: number, closing: AbortSignal): Promise<void> =>
  inBatches(closing, () =>
    runStatement(
      sql,
      `delete from recent_events where (source, position) in (
         select source, position from recent_events e
         where kept_at < $1::text::timestamptz and (kept_at < $2::text::timestamptz or not exists (
           select from runs r where r.workspace_id = e.workspace_id and r.environment = e.environment
             and r.awaits_events and r.ended_at is null and r.queued_at < e.kept_at))
         limit ${rowsAtOnce})
       returning 1`,
      [before(nowMs, leastKeptMs), before(nowMs, maxKeptMs)],
    ),
  )

/** Deletes skipped triggers that are older than the workspace's retention of runs. */
export const deleteSkippedTriggers = (
  sql: Sql,
  { workspaceId, since }: { workspaceId: string; since: string },
  closing: AbortSignal,
): Promise<void> =>
  inBatches(closing, () =>
    runStatement(
      sql,
      `delete from skipped_triggers where (workflow_id, trigger_id) in (
         select workflow_id, trigger_id from skipped_triggers
         where workspace_id = $1 and triggered_at < $2::text::timestamptz limit ${rowsAtOnce})
       returning 1`,
      [workspaceId, since],
    ),
  )

/**
 * Deletes concurrency keys that no run uses. The key is locked first and its runs are checked in a separate statement,
 * as in the admission of a run, so that a run admitted in the meantime is seen.
 */
export async function deleteUnusedKeys(sql: Sql, closing: AbortSignal): Promise<void> {
  const unused = `not exists (select from runs where concurrency_key = key and ended_at is null)`
  await inBatches(closing, () =>
    sql.begin(async (tx) => {
      const found = await runStatement<{ key: string }>(
        tx,
        `select key from run_concurrency where ${unused} limit ${rowsAtOnce} for update skip locked`,
        [],
      )
      const keys = found.map(({ key }) => key)
      return runStatement(
        tx,
        `delete from run_concurrency where key = any($1::text[]) and ${unused} returning 1`,
        [keys],
      )
    }),
  )
}

/** Deletes drafts tested at least a day ago whose runs have been deleted. */
export const deleteTestedDrafts = (sql: Sql, nowMs: number, closing: AbortSignal): Promise<void> =>
  inBatches(closing, () =>
    runStatement(
      sql,
      `with gone as (
         delete from workflow_versions where id in (
           select id from workflow_versions v
           where number = 0 and state->>'publishedAt' < $1 and not exists (
             select from runs r where r.workflow_id = v.workflow_id and r.workflow_version = 0
               and r.queued_at < (v.state->>'publishedAt')::timestamptz + interval '1 hour')
           limit ${rowsAtOnce})
         returning id),
       grants as (delete from version_grants where version_id in (select id from gone))
       select id from gone`,
      [before(nowMs, dayMs)],
    ),
  )
