import { ExecutionRetention, environments } from '@opsplane/contracts'
import type { ServiceClient } from '@opsplane/http'
import { type Database, isLockTimeout, listPartitions } from '@opsplane/postgres'
import type { Logger } from '@opsplane/runtime'

/** A table that is partitioned by the month in its ids, as `add_month` does it, with its dependent tables. */
export interface AgedTable {
  table: string
  /** Prefix of its ids, such as `run_`. */
  prefix: string
  /** Column with the end of a row's lifetime, from which its retention days count; `null` while it has not ended. */
  endedAt: string
  /** A function of the schema that drops the month of a day unless a row in it must be kept; returns whether it did. */
  dropMonth: string
  /** Tables whose rows are deleted with its rows, and the column that references them. */
  dependentTables: readonly { table: string; column: string }[]
}

export interface MonthRetentionOptions {
  sql: Database['sql']
  log: Logger
  of: AgedTable
  /** For how many days each of these workspaces keeps its rows; workspaces that do not exist are absent. */
  daysOf(workspaceIds: string[]): Promise<Record<string, number>>
  nowMs(): number
  /** Deletes other data of a workspace that is older than `before` and belongs to no row. */
  alsoOf?(workspaceId: string, before: string): Promise<unknown>
}

/** Retention of executions by workspace, requested from the settings service. */
export const executionDays =
  (settings: Pick<ServiceClient, 'post'>): MonthRetentionOptions['daysOf'] =>
  async (workspaceIds) =>
    (await settings.post('/internal/retention', { workspaceIds }, ExecutionRetention)).days

const dayMs = 24 * 3_600_000
/** Days for workspaces that no longer exist. */
const usualDays = 90
const workspacesAtOnce = 500
const rowsAtOnce = 500

/**
 * Deletes rows that ended longer ago than their workspace's retention, with their dependent rows: whole months if
 * nothing in them must be kept, otherwise in batches. Rows that have not ended are kept, however old. Any number
 * of replicas may run this concurrently.
 */
export async function deleteAged(options: MonthRetentionOptions, closing: AbortSignal): Promise<void> {
  const kept = await keptDays(options, closing)
  await dropMonths(options, kept, closing)
  let deleted = 0
  for (const [workspaceId, days] of kept) {
    const before = new Date(options.nowMs() - days * dayMs).toISOString()
    await options.alsoOf?.(workspaceId, before)
    for (let batch = rowsAtOnce; batch === rowsAtOnce && !closing.aborted; deleted += batch)
      batch = await deleteBatch(options, workspaceId, before)
  }
  if (deleted > 0) options.log.info({ table: options.of.table, rows: deleted }, 'old rows deleted')
}

/** Retention in days of every workspace that has rows. */
async function keptDays(
  { sql, of, daysOf }: MonthRetentionOptions,
  closing: AbortSignal,
): Promise<Map<string, number>> {
  const kept = new Map<string, number>()
  for (let after = ''; !closing.aborted; ) {
    const found = await workspacesAfter(sql, of, after)
    const days = found.length > 0 ? await daysOf(found) : {}
    for (const id of found) kept.set(id, days[id] ?? usualDays)
    if (found.length < workspacesAtOnce) break
    after = found.at(-1) ?? after
  }
  return kept
}

const run = <Row extends object>(sql: Database['sql'], text: string, parameters: (string | string[])[]) =>
  sql.unsafe<Row[]>(text, parameters, { prepare: true })

/** Workspaces with rows. Skips from one workspace to the next in the index, instead of reading the rows of each. */
async function workspacesAfter(sql: Database['sql'], { table }: AgedTable, after: string): Promise<string[]> {
  const rows = await run<{ id: string }>(
    sql,
    `with recursive found(id) as (
       (select workspace_id from ${table} where workspace_id > $1 order by workspace_id limit 1)
       union all
       select (select workspace_id from ${table} where workspace_id > found.id order by workspace_id limit 1)
       from found where found.id is not null)
     select id from found where id is not null limit $2::int`,
    [after, String(workspacesAtOnce)],
  )
  return rows.map(({ id }) => id)
}

/** Drops months that ended more than `usualDays` ago, oldest first. */
async function dropMonths(
  { sql, log, of, nowMs }: MonthRetentionOptions,
  kept: ReadonlyMap<string, number>,
  closing: AbortSignal,
) {
  const since = new Date(nowMs() - usualDays * dayMs).toISOString()
  const longer = [...kept].filter(([, days]) => days > usualDays).map(([id]) => id)
  for (const month of await monthsBefore(sql, of, since)) {
    if (closing.aborted) return
    try {
      const text = `select ${of.dropMonth}($1::text::date, $2::text::timestamptz, $3::text[]) as dropped`
      const [row] = await run<{ dropped: boolean }>(sql, text, [month, since, longer])
      if (row?.dropped)
        log.info({ table: of.table, month }, 'dropped a month of rows that are past their retention')
    } catch (error) {
      if (!isLockTimeout(error)) throw error
      log.info({ table: of.table, month }, 'a month of old rows is locked; dropping it is tried again later')
    }
  }
}

/** First days of the months that had ended by `instant`, derived from the partition names. */
async function monthsBefore(sql: Database['sql'], { table }: AgedTable, instant: string): Promise<string[]> {
  const names = await listPartitions(sql, table)
  const present = `${instant.slice(0, 7)}-01`
  return names
    .map((name) => name.replace(/^.*_(\d{4})(\d\d)$/, '$1-$2-01'))
    .filter((month) => month < present)
}

/** Returns the number of deleted rows: fewer than a batch if no more are left. */
async function deleteBatch(
  { sql, of: { table, prefix, endedAt, dependentTables } }: MonthRetentionOptions,
  workspaceId: string,
  before: string,
): Promise<number> {
  const parts = dependentTables.map(
    (each) =>
      `${each.table}_gone as (delete from ${each.table} where ${each.column} in (select id from gone))`,
  )
  const [row] = await run<{ count: number }>(
    sql,
    `with gone as materialized (
       select id from ${table}
       where workspace_id = $1 and environment = any($3::text[]) and ${endedAt} < $2::text::timestamptz
         and id < '${prefix}' || ulid_start(($2::text::timestamptz at time zone 'UTC')::date + 1)
       order by id limit ${rowsAtOnce} for update skip locked),
     ${parts.join(',\n')},
     deleted as (delete from ${table} where id in (select id from gone) returning 1)
     select count(*)::int as count from deleted`,
    [workspaceId, before, [...environments]],
  )
  return row?.count ?? 0
}
