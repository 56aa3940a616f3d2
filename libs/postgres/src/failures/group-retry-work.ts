import { ApiError, Environment, type TenantScope } from '@opsplane/contracts'
import type { Database } from '../database.js'
import { type CreateWorker, type LeasedRow, leasedWorker } from '../due-work/index.js'
import { failedItems, type GroupRetryKind, nextItems } from './group-retries.js'

export interface GroupRetryRow extends LeasedRow {
  workspace_id: string
  environment: string
  target_id: string
  cause: string
  position: string
  last_id: string
  step_ids: string[] | null
  request_id: string
}

interface GroupRetryWork<Row> {
  name: string
  /** The columns of rows in addition to those of `GroupRetryRow`. */
  columns: readonly string[]
  /** Retries one item. An ApiError below 500 counts as refused. */
  retry(id: string, row: Row, tenant: TenantScope): Promise<unknown>
  /** Whether the requester still has the right; otherwise the job is canceled. */
  isAllowed?(row: Row): Promise<boolean>
}

interface Step {
  retried: number
  refused: number
  last: string
  /** The unsettled items of this step; `null` if there are none. */
  left: string[] | null
  ended: 'completed' | 'canceled' | null
}

/** Number of items of a step, after which other jobs get their turn. */
const stepSize = 20
const stepMs = 60_000

/**
 * Executes group retries in steps. A step records its items before it retries the first. If it is repeated after a
 * crash, items that are no longer failed count as retried, and the others are retried. An item that fails again
 * has failed after the job's position, and is not selected again.
 */
export function groupRetryWork<Row extends GroupRetryRow>(
  database: Pick<Database, 'sql'>,
  kind: GroupRetryKind<unknown>,
  { name, columns, retry, isAllowed }: GroupRetryWork<Row>,
): CreateWorker {
  const { table, due, position } = kind
  const { sql } = database
  const lastColumn = table.lastId.name

  /** `false` once the job is canceled or another replica has it. */
  async function record({ key, fence }: Row, ids: readonly string[]): Promise<boolean> {
    const { count } = await sql.unsafe(
      `update ${due.table} set step_ids = $3::text::json
       where id = $1 and lease_fence = $2::text::bigint and status = 'running'`,
      [key, fence, JSON.stringify(ids)],
      { prepare: true },
    )
    return count > 0
  }

  async function step(row: Row, signal: AbortSignal): Promise<Step> {
    const tenant = { workspaceId: row.workspace_id, environment: Environment.parse(row.environment) }
    const selection = { tenant, targetId: row.target_id, cause: row.cause, position: row.position }
    const recorded = row.step_ids?.filter((id) => id > row.last_id) ?? []
    const isNew = recorded.length === 0
    const ids = isNew
      ? await nextItems(database, kind, { selection, after: row.last_id, limit: stepSize })
      : recorded
    const failed = new Set(isNew ? ids : await failedItems(database, kind, { selection, ids }))
    const made = { retried: 0, refused: 0, last: row.last_id, left: null, ended: null }
    if (isAllowed && !(await isAllowed(row)))
      return { ...made, retried: ids.length - failed.size, ended: 'canceled' }
    if (isNew && ids.length > 0 && !(await record(row, ids))) return made
    for (const [index, id] of ids.entries()) {
      try {
        signal.throwIfAborted()
        if (failed.has(id)) await retry(id, row, tenant)
        made.retried++
      } catch (error) {
        if (error instanceof ApiError && error.status < 500) made.refused++
        else if (index === 0) throw error
        // Retried items count even if the retry is canceled meanwhile; the next step encounters the failure again.
        else return { ...made, left: ids.slice(index) }
      }
      made.last = id
    }
    return { ...made, ended: isNew && ids.length < stepSize ? 'completed' : null }
  }

  return leasedWorker<Row, Step>({
    name,
    of: due,
    columns: [
      ...['workspace_id', 'environment', 'cause', 'step_ids', 'request_id'],
      ...[`${table.targetId.name} as target_id`, `${lastColumn} as last_id`, `${position.text} as position`],
      ...columns,
    ],
    batch: 4,
    ofOne: 1,
    deadlineMs: stepMs,
    perform: async (rows, signal) => Promise.all(rows.map((row) => step(row, signal))),
    async done(tx, finished) {
      for (const { row, result } of finished)
        await tx.unsafe(
          `update ${due.table} set retried = retried + $2::text::int, refused = refused + $3::text::int,
             ${lastColumn} = $4, step_ids = $5::text::json, due_at = now(),
             status = case when status = 'running' then coalesce($6::text, status) else status end,
             finished_at = case when status = 'running' and $6::text is not null then now() else finished_at end
           where id = $1`,
          [
            ...[row.key, String(result.retried), String(result.refused), result.last],
            ...[result.left && JSON.stringify(result.left), result.ended],
          ],
        )
    },
  })
}
