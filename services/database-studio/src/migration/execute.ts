import type { DryRun } from '@opsplane/contracts'
import type { Sql, TransactionSql } from 'postgres'
import { z } from 'zod'
import { AnswerTooLargeError, answerBytes } from '../data-plane/answer-size.js'
import type { DataPlane, Session } from '../data-plane/data-plane.js'
import type { JournalActor } from '../data-plane/space.js'
import type { Run } from '../migration-ledger/runs.js'
import { explainFailure, resultTooLargeError } from '../query/failure.js'
import type { MigrationStatement } from './statements.js'

export interface Execution {
  run: Run
  statements: readonly MigrationStatement[]
  /** The text the statements were parsed from, and the part of the migration it belongs to. */
  sql: string
  path: '/up' | '/down'
  acting: JournalActor
  timeoutMs: number
  transactional: boolean
}

export interface DryExecution {
  statements: DryRun['statements']
  /** The resulting tables, in the format of `space_shapes`. */
  shapes: unknown
}

/**
 * Postgres stops statements that exceed the time limit; this many milliseconds later they
 * are cancelled from outside.
 */
const graceMs = 2_000
/** Milliseconds. A transaction waiting for a table lock blocks all later ones behind it. */
const lockTimeoutMs = 10_000

/**
 * Runs a migration as the space's migrator role. When it resolves the migration is
 * applied; when it throws nothing has changed.
 */
export async function execute(plane: DataPlane, execution: Execution): Promise<void> {
  await inSession(plane, execution, async (session) => {
    if (!execution.transactional) await concurrently(session.sql, execution)
    await session.sql.begin(async (tx) => {
      await begin(tx, session, execution)
      if (execution.transactional)
        for (const statement of execution.statements) {
          await step(tx, execution, statement)
          session.renewAnswer()
        }
      await tx.unsafe('select studio.finish_migration($1)', [execution.run.token]).catch(explained(execution))
    })
  })
}

class Undone {
  constructor(readonly found: DryExecution) {}
}

const Locks = z.array(z.object({ name: z.string(), mode: z.string() }))

/**
 * Runs the migrations in order in one transaction, inspects the result and rolls back.
 * `explain` converts an error of one of them.
 */
export function executeDry(
  plane: DataPlane,
  executions: readonly [Execution, ...Execution[]],
  explain: (error: unknown, index: number) => unknown = (error) => error,
): Promise<DryExecution> {
  const [first] = executions
  const { token } = first.run
  const timeoutMs = executions.reduce((sum, execution) => sum + execution.timeoutMs, 0)
  return inSession(plane, { ...first, timeoutMs }, async (session) => {
    try {
      return await session.sql.begin(async (tx) => {
        await begin(tx, session, first)
        const statements: DryRun['statements'] = []
        const heldLocks = new Set<string>()
        for (const [index, execution] of executions.entries())
          for (const statement of execution.statements) {
            const startedAt = performance.now()
            const rows = await step(tx, execution, statement).catch((error: unknown) => {
              throw explain(error, index)
            })
            session.renewAnswer()
            const durationMs = Math.round((performance.now() - startedAt) * 10) / 10
            const [row] = await tx.unsafe('select studio.migration_locks($1) as locks', [token])
            const locks = Locks.parse(row?.locks).filter(
              ({ name, mode }) => !heldLocks.has(`${name}/${mode}`),
            )
            for (const { name, mode } of locks) heldLocks.add(`${name}/${mode}`)
            statements.push({ sql: statement.text, rows, locks, durationMs })
          }
        const [row] = await tx.unsafe('select studio.migration_shapes($1) as shapes', [token])
        throw new Undone({ statements, shapes: row?.shapes })
      })
    } catch (error) {
      if (error instanceof Undone) return error.found
      throw error
    }
  })
}

function inSession<T>(
  plane: DataPlane,
  { run, timeoutMs, path }: Execution,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = plane.session(run.space, 'migrator', { deadlineMs: timeoutMs + graceMs }, work)
  return session.catch((error: unknown) => {
    throw error instanceof AnswerTooLargeError ? resultTooLargeError(path, answerBytes.session, error) : error
  })
}

async function begin(
  tx: TransactionSql,
  { act }: Session,
  { run, timeoutMs, acting }: Execution,
): Promise<void> {
  await tx.unsafe(
    `set local statement_timeout = ${timeoutMs}; set local lock_timeout = ${Math.min(lockTimeoutMs, timeoutMs)}`,
  )
  await tx.unsafe('select studio.begin_migration($1)', [run.token])
  await act(tx, acting)
}

/** Runs one statement by the extended protocol, which accepts only one. Returns the number of changed rows. */
async function step(
  tx: TransactionSql,
  execution: Execution,
  statement: MigrationStatement,
): Promise<number | null> {
  const { text, drops, dropsTypes } = statement
  if (dropsTypes.length > 0)
    await tx.unsafe('select studio.free_types($1, $2::text::json)', [
      execution.run.token,
      JSON.stringify(dropsTypes),
    ])
  const dropping = drops && {
    text: 'select studio.drop_tables($1, $2::text::json, $3::text::boolean, $4::text::boolean)',
    parameters: [
      execution.run.token,
      JSON.stringify(drops.names),
      String(drops.cascades),
      String(drops.mayLack),
    ],
  }
  const result = await tx
    .unsafe(dropping?.text ?? text, dropping?.parameters ?? [], { simple: false } as object)
    // Discards the returned rows.
    .forEach(() => {})
    .catch(explained(execution, statement))
  if (statement.changesRows) return result.count ?? 0
  await tx
    .unsafe('select studio.migration_step($1)', [execution.run.token])
    .catch(explained(execution, statement))
  return null
}

/** Builds indexes outside of any transaction; an index left unfinished by an earlier run is rebuilt. */
async function concurrently(sql: Sql, { statements, timeoutMs, ...execution }: Execution): Promise<void> {
  await sql.unsafe(`set statement_timeout = ${timeoutMs}`)
  for (const statement of statements) {
    const explain = explained({ ...execution, statements, timeoutMs }, statement)
    if (statement.buildsIndex) {
      const [row] = await sql.unsafe('select studio.unfinished_index($1, $2) as name', [
        execution.run.token,
        statement.buildsIndex,
      ])
      if (row?.name)
        await sql
          .unsafe(`drop index concurrently ${row.name}`, [], { simple: false } as object)
          .catch(explain)
    }
    await sql.unsafe(statement.text, [], { simple: false } as object).catch(explain)
  }
}

/** Describes the statement and position at which the migration failed. */
function explained({ sql, path, statements }: Execution, statement?: MigrationStatement) {
  const offset = statement ? [...Buffer.from(sql).subarray(0, statement.start).toString()].length : 0
  const params = statement && { statement: statements.indexOf(statement) + 1 }
  return (error: unknown): never => {
    const writtenPosition = (position: number) => position + offset
    throw explainFailure(error, { path, writtenPosition, ...(params && { params }) })
  }
}
