import {
  ApiError,
  type idPrefixes,
  invalidTransition,
  newId,
  notFound,
  type Page,
  type TenantScope,
} from '@opsplane/contracts'
import { and, desc, eq, lt } from 'drizzle-orm'
import type { z } from 'zod'
import type { Database } from '../database.js'
import type { DueTable } from '../due-work/index.js'
import { uniqueViolation } from '../errors.js'
import { type FailureGroupKey, formatGroupId } from './failure-groups.js'
import type { GroupRetryTable } from './group-retry-table.js'

/** Configuration of one kind of group retry. */
export interface GroupRetryKind<Job> {
  table: GroupRetryTable
  due: DueTable
  idKind: keyof typeof idPrefixes
  job: z.ZodType<Job>
  /** The job's field with the id of its target. */
  targetField: string
  /**
   * `from … where …` for the items of a group that have currently failed; `$1` to `$5`: target, workspace,
   * environment, position, cause.
   */
  selected: string
  /** SQL for an item's id, in `selected`. */
  itemId: string
  /** The position up to which a group was listed: the table's column, and SQL for it as text. */
  position: { column: string; text: string }
}

export interface SelectedItems extends FailureGroupKey {
  tenant: TenantScope
  /** Only items that had failed by this position. */
  position: string
}

/** Result of starting a retry; `job` is `null` for a dry run. */
export interface StartedRetry<Job> {
  dryRun: boolean
  count: number
  job: Job | null
}

type Statements = Pick<Database, 'sql'>

const selectionParameters = ({ targetId, tenant, position, cause }: SelectedItems) => [
  targetId,
  ...[tenant.workspaceId, tenant.environment],
  ...[position, cause],
]

async function selectIds(
  { sql }: Statements,
  { selected, itemId }: GroupRetryKind<unknown>,
  { selection, where, parameter }: { selection: SelectedItems; where: string; parameter: string | string[] },
): Promise<string[]> {
  const rows = await sql.unsafe<{ id: string }[]>(
    `select ${itemId} as id ${selected} and ${itemId} ${where}`,
    [...selectionParameters(selection), parameter],
    { prepare: true },
  )
  return rows.map(({ id }) => id)
}

/** The next items after one, in the order they began. */
export const nextItems = (
  database: Statements,
  kind: GroupRetryKind<unknown>,
  { selection, after, limit }: { selection: SelectedItems; after: string; limit: number },
): Promise<string[]> =>
  selectIds(database, kind, {
    selection,
    where: `> $6 order by ${kind.itemId} limit ${limit}`,
    parameter: after,
  })

/** Those of the ids that have still failed. */
export const failedItems = (
  database: Statements,
  kind: GroupRetryKind<unknown>,
  { selection, ids }: { selection: SelectedItems; ids: string[] },
): Promise<string[]> => selectIds(database, kind, { selection, where: '= any($6::text[])', parameter: ids })

export type GroupRetries<Job> = ReturnType<typeof createGroupRetries<Job>>

/** Jobs that retry groups of failures, stored in a table of the service. */
export function createGroupRetries<Job>(
  { db, sql }: Pick<Database, 'db' | 'sql'>,
  kind: GroupRetryKind<Job>,
) {
  const { table, due, idKind, selected, targetField } = kind
  const ofTenant = ({ workspaceId, environment }: TenantScope) =>
    and(eq(table.workspaceId, workspaceId), eq(table.environment, environment))
  const isRetry = (id: string, tenant: TenantScope) => and(eq(table.id, id), ofTenant(tenant))

  const present = (row: GroupRetryTable['$inferSelect']): Job => {
    const { targetId, cause, createdAt, finishedAt } = row
    return kind.job.parse({
      ...row,
      [targetField]: targetId,
      failures: formatGroupId({ targetId, cause }),
      createdAt: new Date(createdAt).toISOString(),
      finishedAt: finishedAt && new Date(finishedAt).toISOString(),
    })
  }

  /** Throws `not_found`. */
  async function get(id: string, tenant: TenantScope): Promise<Job> {
    return present(await find(id, tenant))
  }

  async function find(id: string, tenant: TenantScope) {
    const [row] = await db.select().from(table).where(isRetry(id, tenant))
    if (!row) throw notFound()
    return row
  }

  return {
    get,

    /**
     * Counts the items of a group and, unless it is a dry run, creates the job that retries them; `more` are the
     * columns that only this table has. Throws `conflict` while another job of the group is running.
     */
    async start(
      selection: SelectedItems,
      dryRun: boolean,
      { requestId, now, more }: { requestId: string; now: string; more: Record<string, unknown> },
    ): Promise<StartedRetry<Job>> {
      const [found] = await sql.unsafe<{ count: number }[]>(
        `select count(*)::int as count ${selected}`,
        selectionParameters(selection),
        { prepare: true },
      )
      const count = found?.count ?? 0
      if (dryRun) return { dryRun, count, job: null }
      const { targetId, cause, tenant, position } = selection
      try {
        const [row] = await db
          .insert(table)
          .values({
            ...more,
            ...{ [kind.position.column]: position },
            ...{ id: newId(idKind), ...tenant, targetId, cause, total: count },
            ...{ requestId, dueAt: now, createdAt: now },
          })
          .returning()
        return { dryRun, count, job: row ? present(row) : null }
      } catch (error) {
        if (uniqueViolation(error) !== `${due.table}_running_key`) throw error
        throw new ApiError(
          'conflict',
          'This group is already being retried. Wait for that retry to end, or cancel it.',
        )
      }
    },

    /** Items already retried remain so. Throws `not_found` and `invalid_state_transition`. */
    async cancel(id: string, { tenant, now }: { tenant: TenantScope; now: string }): Promise<Job> {
      const [canceled] = await db
        .update(table)
        .set({ status: 'canceled', finishedAt: now })
        .where(and(isRetry(id, tenant), eq(table.status, 'running')))
        .returning()
      if (canceled) return present(canceled)
      throw invalidTransition('cancel the retry', (await find(id, tenant)).status, [])
    },

    /** Newest first. */
    async list({
      tenant,
      limit,
      after,
    }: {
      tenant: TenantScope
      limit: number
      after?: string | undefined
    }): Promise<Page<Job>> {
      const rows = await db
        .select()
        .from(table)
        .where(and(ofTenant(tenant), after === undefined ? undefined : lt(table.id, after)))
        .orderBy(desc(table.id))
        .limit(limit + 1)
      const items = rows.slice(0, limit)
      return {
        items: items.map(present),
        nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null,
        limit,
      }
    },
  }
}
