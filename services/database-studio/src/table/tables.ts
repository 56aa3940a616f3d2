import {
  ApiError,
  type CommandMeta,
  type NewTable,
  newId,
  notFound,
  type Table,
  type TablePatch,
  type TableState,
} from '@opsplane/contracts'
import type { Aggregate, Unit } from '@opsplane/eventstore'
import type { StatementRunner } from '@opsplane/postgres'
import { type Limits, quotaExceeded } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import type { DataPlane } from '../data-plane/data-plane.js'
import type { Definitions } from '../data-plane/definitions.js'
import type { Space } from '../data-plane/space.js'
import type { RecordChange } from '../migration-ledger/record-change.js'
import { applyPatch, type PatchedTable } from './apply-patch.js'
import { listStatements, pairColumns, planChange } from './change-plan.js'
import { checkDefinition, nameParts } from './check-definition.js'
import { relation } from './column-sql.js'
import { createDefine, type DefinitionTransaction } from './define.js'
import { type TableCommand, table } from './domain.js'
import { renameToExpected } from './expected-names.js'
import { refuseInPatch } from './patch-places.js'
import { findRenames, type Renames, renameReferences, reverseRenames } from './renames.js'
import { refersTo } from './row-checks.js'
import { refuseLongLock, runChecks } from './run-checks.js'
import { createTable } from './table-sql.js'
import { computePurgeTime, planPurge, restoreFromTrash, trashTable } from './trash.js'

export type TableAggregate = Aggregate<TableState, TableCommand, Table>

/** Operations on tables. */
export interface Tables {
  aggregate: TableAggregate
  /** Throws `quota_exceeded` if the workspace already has the maximum number of tables. */
  create(body: NewTable, meta: CommandMeta): Promise<Table>
  get(slug: string, meta: CommandMeta): Promise<Table>
  /** Throws `conflict` if rows prevent the change, or would lose values without `force`. */
  change(slug: string, patch: TablePatch, meta: CommandMeta): Promise<Table>
  /** Moves the table to the trash. Throws `conflict` while other tables refer to it. */
  remove(slug: string, meta: CommandMeta): Promise<void>
  /** Restores from the trash the table with this id, or the most recently dropped one with this slug. */
  restore(name: string, meta: CommandMeta): Promise<Table>
}

export function createTables(
  ctx: Pick<ServiceContext, 'database' | 'store' | 'clock'>,
  {
    plane,
    definitions,
    record,
    limits,
  }: { plane: DataPlane; definitions: Definitions; record: RecordChange; limits: Limits },
): Tables {
  const define = createDefine(ctx)
  const aggregate = ctx.store.aggregate(table)

  /** Runs `work` on the table of this slug while holding its lock. */
  const changing = async <T>(
    slug: string,
    meta: CommandMeta,
    work: (
      found: { space: Space; state: TableState; others: TableState[] } & DefinitionTransaction,
    ) => Promise<T>,
    trashed = false,
  ): Promise<T> => {
    const space = await plane.space(meta.tenant)
    const result = await define(space, meta, async (defining) => {
      const states = await lockTables(defining.tx, meta)
      const found = states.filter((state) => (state.purgeAt !== null) === trashed)
      const state = found.find((each) => each.slug === slug || each.id === slug)
      if (!state) throw notFound()
      const others = states.filter(({ id, purgeAt }) => id !== state.id && purgeAt === null)
      return work({ ...defining, space, state, others })
    })
    definitions.forget(meta.tenant, slug)
    return result
  }

  return {
    aggregate,
    get: (slug, { tenant }) => definitions.get(tenant, slug),
    async create(body, meta) {
      const space = await plane.space(meta.tenant)
      const tableFields = { ...body, name: body.name ?? body.slug, ...nameParts(body) }
      await checkDefinition(tableFields)
      const id = newId('table')
      const result = await define(space, meta, async ({ tx, unit, asOwner }) => {
        const maxTables = limits.of('tables', meta.tenant.workspaceId)
        if (maxTables > 0 && (await lockTables(tx, meta)).length >= maxTables)
          throw quotaExceeded('tables', maxTables)
        const made = await unit.create(aggregate, id, {
          kind: 'create',
          id,
          fields: tableFields,
          now: meta.now,
        })
        const statements = createTable({ schema: space.schema, slug: body.slug }, made)
        await asOwner((owner) => all(owner, statements))
        const undo = [`drop table ${relation({ ...space, slug: made.slug })}`]
        const change = { statements, undo, definition: made, previous: null }
        await record(unit, space, { name: `Create ${made.slug}`, ...change }, meta)
        await attach(tx, space.schema, made)
        return made
      })
      definitions.forget(meta.tenant, body.slug)
      return result
    },
    async change(slug, { force = false, ...patch }, meta) {
      const result = await changing(slug, meta, async ({ tx, unit, asOwner, space, state, others }) => {
        const renames = findRenames(state, patch)
        const before = await renameReferences(state, renames)
        const change = applyPatch(before, patch)
        const origins = pairColumns(before, change).pairs.map(([from, to]) => [to, from] as const)
        await checkDefinition(change.after, new Map(origins)).catch(refuseInPatch(patch, change))
        const plan = planChange(space.schema, before, change)
        const place = { schema: space.schema, slug: state.slug }
        plan.statements.unshift(...(await renameToExpected(tx, place, state, plan.statements)))
        // Checks If-Match first.
        const { id: _, createdAt: __, updatedAt: ___, purgeAt: ____, ...to } = change.after
        const made = await unit.handle(aggregate, state.id, { kind: 'change', to, now: meta.now })
        if (plan.rewrites && !force) await refuseLongLock(tx, place)
        await asOwner(async (owner) => {
          for (const { checks, statements } of [plan, plan.parts]) {
            await runChecks(owner, checks, force)
            await all(owner, statements)
          }
        })
        if (made.updatedAt !== state.updatedAt) {
          const back = await renameReferences(made, reverseRenames(renames))
          const undo = undoOf(space.schema, back, state, change)
          const done = { statements: listStatements(plan), undo, definition: made, previous: state }
          await record(unit, space, { name: `Change ${slug}`, ...done }, meta)
        }
        await follow(unit, { aggregate, others, from: slug, to: made.slug, renames }, meta)
        await attach(tx, space.schema, made)
        return made
      })
      definitions.forget(meta.tenant, result.slug)
      return result
    },
    remove: (slug, meta) =>
      changing(slug, meta, async ({ tx, unit, space, state, others }) => {
        const referring = others.filter((other) => refersTo(other, slug)).map((other) => other.slug)
        const purgeAt = computePurgeTime(meta.now)
        await unit.handle(aggregate, state.id, { kind: 'delete', purgeAt, now: meta.now })
        if (referring.length > 0) throw referredTo(slug, referring)
        const statements = [`drop table ${relation({ ...space, slug })}`]
        const change = { statements, undo: null, definition: null, previous: state }
        await record(unit, space, { name: `Drop ${slug}`, ...change }, meta)
        await trashTable(tx, state)
        await planPurge(tx, meta.tenant, state.id, purgeAt)
      }),
    restore: (name, meta) =>
      changing(
        name,
        meta,
        async ({ tx, unit, asOwner, space, state, others }) => {
          if (others.some(({ slug }) => slug === state.slug))
            throw new ApiError(
              'conflict',
              `There is another table ${state.slug} now. Give that one another slug first.`,
            )
          const made = await unit.handle(aggregate, state.id, { kind: 'restore', now: meta.now })
          const statements = createTable({ schema: space.schema, slug: state.slug }, made)
          const undo = [`drop table ${relation({ ...space, slug: made.slug })}`]
          const change = { statements, undo, definition: made, previous: null }
          await record(unit, space, { name: `Restore ${made.slug}`, ...change }, meta)
          await restoreFromTrash({ tx, asOwner }, space, state)
          await tx.unsafe('delete from table_purges where table_id = $1', [state.id])
          await attach(tx, space.schema, made)
          definitions.forget(meta.tenant, made.slug)
          return made
        },
        true,
      ),
  }
}

/**
 * Locks and returns every table of the tenant, most recently dropped first. No other transaction changes any of them
 * until this one ends.
 */
async function lockTables(tx: StatementRunner, { tenant }: CommandMeta): Promise<TableState[]> {
  const rows = await tx.unsafe<{ state: TableState }[]>(
    `select state from tables where workspace_id = $1 and environment = $2
     order by purge_at desc nulls first, id for update`,
    [tenant.workspaceId, tenant.environment],
  )
  return rows.map(({ state }) => state)
}

/** Statements that restore the previous table: its columns, but not the values of dropped ones. */
function undoOf(schema: string, made: TableState, before: TableState, { renamed }: PatchedTable): string[] {
  const back = new Map([...renamed].map(([to, from]) => [from, to]))
  return listStatements(planChange(schema, made, { after: before, renamed: back }))
}

async function all(tx: StatementRunner, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await tx.unsafe(statement)
}

const attach = (tx: StatementRunner, schema: string, { id, slug, version }: Table) =>
  tx.unsafe('select attach_capture($1, $2, $3, $3, $4)', [id, schema, slug, version])

interface Following {
  aggregate: TableAggregate
  others: readonly TableState[]
  from: string
  to: string
  renames: Renames
}

/** Updates the definitions that refer to the table, which name it by slug and its key by column name. */
async function follow(
  unit: Unit,
  { aggregate, others, from, to, renames }: Following,
  { now }: CommandMeta,
): Promise<void> {
  if (from === to && renames.size === 0) return
  for (const other of others.filter((each) => refersTo(each, from))) {
    const columns = other.columns.map((column) => {
      if (column.type !== 'reference' || column.table !== from) return column
      const { key } = column
      const called = key && { ...key, column: renames.get(key.column) ?? key.column }
      return { ...column, table: to, ...(called && { key: called }) }
    })
    await unit.handle(aggregate, other.id, { kind: 'change', to: { columns }, now })
  }
}

function referredTo(slug: string, tables: readonly string[]): ApiError {
  const message = `Columns of ${tables.join(', ')} refer to ${slug}. Drop them first.`
  return new ApiError('conflict', message, {
    details: [{ in: 'path', path: '/slug', code: 'referred_to', message, params: { tables } }],
  })
}
