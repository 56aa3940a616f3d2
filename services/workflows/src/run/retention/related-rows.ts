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

/** A run that has just been started by an older event finds what came after that. */
const leastKeptMs = hourMs
/** Events accepted longer ago are not searched, however long a run has been active. */
const maxKeptMs = 7 * dayMs

/** Events that no run may begin to wait for any more. */
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

/** What started no run, as long ago as the workspace keeps runs. */
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
 * Concurrency keys that no run has. A key is locked before its runs are looked for, in a statement of their own, as by
 * the admission of a run: one that was admitted meanwhile is seen.
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

/** Drafts as they were tested a day ago or more, whose runs are gone. */
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
