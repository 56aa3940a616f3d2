import type { CommandMeta } from '@opsplane/contracts'
import { type StatementRunner, translatePostgresError } from '@opsplane/postgres'
import type { TransactionSql } from 'postgres'
import { AnswerTooLargeError, maxRecordsWritten } from '../data-plane/answer-size.js'
import type { DataPlane } from '../data-plane/data-plane.js'
import type { Definitions } from '../data-plane/definitions.js'
import type { JournalActor, Space } from '../data-plane/space.js'
import type { CheckSpaceQuota } from '../data-plane/space-quota.js'
import { DryRun } from './dry-run.js'
import { isOutdated } from './failures.js'
import type { Values } from './input.js'
import { createInsertQueue } from './insert-queue.js'
import { keepAnswer } from './keep-answer.js'
import type { Statement } from './parameters.js'
import type { Caller, ResolvedTable, Row } from './resolved-table.js'
import { findRules } from './rules.js'
import { estimateRows } from './table-size.js'
import type { WriteTarget } from './write-statements.js'

/** Runs one reading statement. */
export type RunRead = (statement: Statement) => Promise<Row[]>

export interface OneStatement {
  /** Maximum records it writes. */
  count: number
  of(target: WriteTarget): Statement
}

/** Shared operations on tables and records. */
export interface RecordAccess {
  /** Throws `not_found`. */
  open(slug: string, meta: Caller): Promise<ResolvedTable>
  /** Removes the cached definition, which is outdated. */
  forget(slug: string, meta: Caller): void
  /** Runs `work` with the table's current definition, and once more if the definition turns out to have changed. */
  withTable<T>(slug: string, meta: Caller, work: (resolvedTable: ResolvedTable) => Promise<T>): Promise<T>
  read<Found extends object = Row>(space: Space, statement: Statement): Promise<Found[]>
  /** Same for a page: if the rows exceed the byte limit, returns the first ones that fit. Rejects if none fits. */
  readPage(space: Space, statement: Statement): Promise<{ rows: Row[]; isCut: boolean }>
  /**
   * Throws `quota_exceeded` if the tables of the space have reached the workspace's limit,
   * so nothing may be created.
   */
  refuseFull(resolvedTable: ResolvedTable): Promise<void>
  /** Approximate number of records of a table. */
  sizeOf(resolvedTable: ResolvedTable): Promise<number>
  /** Runs `work` in one transaction and stores the response for the request's Idempotency-Key. */
  commit<T>(
    resolvedTables: readonly ResolvedTable[],
    meta: CommandMeta,
    work: (tx: TransactionSql) => Promise<T>,
  ): Promise<T>
  /**
   * Same for a single statement, in one round trip if nothing has to be read before the commit. `runRead` reads for
   * `finish` on the connection of the open transaction, so that no second session is needed.
   */
  commitOne<T>(
    resolvedTable: ResolvedTable,
    meta: CommandMeta,
    statement: OneStatement,
    finish: (rows: Row[], runRead: RunRead) => T | Promise<T>,
  ): Promise<T>
  /** Creates one record, in one statement with others that arrive at the same time. */
  insert(resolvedTable: ResolvedTable, meta: CommandMeta, values: Values & { id: string }): Promise<Row>
}

export function createRecordAccess({
  plane,
  definitions,
  sql,
  refuseFull,
}: {
  plane: DataPlane
  definitions: Definitions
  /** Connection as the login of the service. */
  sql: StatementRunner
  refuseFull: CheckSpaceQuota
}): RecordAccess {
  const open = async (slug: string, meta: Caller): Promise<ResolvedTable> => {
    const [space, { table, validations }] = await Promise.all([
      plane.space(meta.tenant),
      definitions.defined(meta.tenant, slug),
    ])
    return { space, table, validations, ...findRules(table, meta.principal) }
  }

  const insertQueue = createInsertQueue(plane)

  const commit = async <T>(
    resolvedTables: readonly ResolvedTable[],
    meta: CommandMeta,
    work: (tx: TransactionSql) => Promise<T>,
  ) => {
    const space = spaceOf(resolvedTables)
    const journalActor = actingOf(meta, resolvedTables)
    try {
      return await plane.write(space, journalActor, async (tx) => {
        const result = await work(tx)
        await keepAnswer(tx, meta, result)
        return result
      })
    } catch (error) {
      if (!(error instanceof DryRun)) throw error
      const result = error.result as T
      if (meta.idempotency) await plane.write(space, journalActor, (tx) => keepAnswer(tx, meta, result))
      return result
    }
  }

  const readPage: RecordAccess['readPage'] = async (space, { text, parameters }) => {
    const rows: Row[] = []
    try {
      await plane.read(space, (tenant) =>
        tenant
          .unsafe<Row[]>(text, [...parameters], { prepare: true })
          .forEach((row) => void rows.push(row as Row)),
      )
      return { rows, isCut: false }
    } catch (error) {
      if (rows.length === 0 || !(error instanceof AnswerTooLargeError)) throw error
      return { rows, isCut: true }
    }
  }

  const read: RecordAccess['read'] = (space, statement) =>
    plane.read(space, (sql) => runStatement(sql, statement))

  return {
    open,
    forget: (slug, { tenant }) => definitions.forget(tenant, slug),
    async withTable(slug, meta, work) {
      try {
        return await work(await open(slug, meta))
      } catch (error) {
        if (!isOutdated(error)) throw error
        definitions.forget(meta.tenant, slug)
        return work(await open(slug, meta))
      }
    },
    read,
    readPage,
    refuseFull: ({ space }) => refuseFull(space),
    sizeOf: (resolvedTable) =>
      estimateRows(sql, resolvedTable).catch((error: unknown) => {
        throw translatePostgresError(error)
      }),
    commit,
    commitOne: async (resolvedTable, meta, { count, of: statement }, finish) => {
      const { space, table, writeRule: rule } = resolvedTable
      const target = { schema: space.schema, table, rule }
      if (meta.idempotency || rule.length > 0 || count > maxRecordsWritten)
        return commit([resolvedTable], meta, async (tx) =>
          finish(await runStatement(tx, statement(target)), (query) => runStatement(tx, query)),
        )
      const rows = await plane.writeOne<Row>(space, actingOf(meta, [resolvedTable]), (proof) =>
        statement({ ...target, proof }),
      )
      return finish(rows, (query) => read(space, query))
    },
    insert: (resolvedTable, meta, values) =>
      insertQueue({ opened: resolvedTable, acting: actingOf(meta, [resolvedTable]), values }),
  }
}

export async function runStatement<Found extends object = Row>(
  sql: StatementRunner,
  { text, parameters }: Statement,
): Promise<Found[]> {
  return [...(await sql.unsafe<Found[]>(text, [...parameters], { prepare: true }))]
}

/** The actor for the journal, the definitions the write is based on, and the idempotency key that may be stored. */
const actingOf = (
  { actor, requestId, causationId, source, idempotency }: CommandMeta,
  resolvedTables: readonly ResolvedTable[],
): JournalActor => ({
  actor,
  requestId,
  definitions: Object.fromEntries(resolvedTables.map(({ table }) => [table.id, table.version])),
  ...(causationId !== undefined && { causationId }),
  ...(source !== undefined && { source }),
  ...(idempotency && { keeps: idempotency.key }),
})

/** All tables of a request belong to one space. */
function spaceOf([first]: readonly ResolvedTable[]): Space {
  if (!first) throw new Error('nothing is written of no table')
  return first.space
}
