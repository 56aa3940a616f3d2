import type { QueryMode, QueryResult, TenantScope } from '@opsplane/contracts'
import { createCollector, createTypeNames, type Database } from '@opsplane/postgres'
import { createSemaphore } from '@opsplane/runtime'
import type { Sql, TransactionSql } from 'postgres'
import { AnswerTooLargeError } from '../data-plane/answer-size.js'
import type { DataPlane, Session } from '../data-plane/data-plane.js'
import type { JournalActor } from '../data-plane/space.js'
import { numberParameters } from '../sql/parameters.js'
import { checkQuery } from '../sql/statement.js'
import { type ParameterTypes, type ParameterValues, parseArguments } from './arguments.js'
import { explainFailure, resultTooLargeError } from './failure.js'

export interface QueryRequest {
  sql: string
  parameters: ParameterValues
  types: ParameterTypes
  mode: QueryMode
  maxRows: number
  timeoutMs: number
  explain?: 'plan' | 'analyze' | undefined
}

export interface QueryRunner {
  /**
   * Runs one statement of a tenant: as its reader in a read-only transaction or, in mode `write`, as its runtime role
   * with `journalActor` in the journal. The answer of a read is cut at 4 MiB; a write with a larger answer is rolled back.
   * Throws `validation_failed` in that case, and if the statement is not allowed or fails.
   */
  run(
    tenant: TenantScope,
    request: QueryRequest,
    journalActor: JournalActor,
    signal: AbortSignal,
  ): Promise<QueryResult>
}

/** Thrown to roll back a transaction whose result is still wanted. */
class Undone<T> {
  constructor(readonly value: T) {}
}

/**
 * Postgres stops statements that exceed the time limit; this many milliseconds later they
 * are cancelled from outside.
 */
const graceMs = 1_000
const maxBytes = 4_194_304

export function createQueryRunner(plane: DataPlane, database: Pick<Database, 'sql'>): QueryRunner {
  const namesOf = createTypeNames(database.sql)
  // Converting several answers of megabytes concurrently would cause garbage collection pauses of tens of milliseconds.
  const presenting = createSemaphore(1)
  return {
    async run(tenant, request, journalActor, signal) {
      const { mode, timeoutMs, explain, maxRows } = request
      const statement = await numberParameters(request.sql, request.types)
      const values = parseArguments(statement, request.parameters, request.types)
      const { kind } = await checkQuery(statement.masked, mode)
      const space = await plane.space(tenant)
      const prefix = explain ? `explain (format json${explain === 'analyze' ? ', analyze' : ''}) ` : ''
      const startedAt = performance.now()
      // All rows of a write are read in order to count them; rows that are not returned do not
      // count towards the byte limit.
      let renew = () => {}
      const collector = createCollector({
        ...{ text: `${prefix}${statement.text}`, values, maxRows, maxBytes },
        ...{ whole: explain !== undefined, drain: mode === 'write', passed: () => renew() },
      })
      const mayBeCut = mode === 'read' && !explain
      const execute = async (tx: TransactionSql) => {
        const collected = await collector.read(tx)
        if (collected.truncated === 'bytes' && !mayBeCut) throw resultTooLargeError('/sql', maxBytes)
        return collected
      }
      const options = { deadlineMs: timeoutMs + graceMs, signal }
      const role = mode === 'write' ? 'runtime' : 'reader'
      const found = await plane
        .session(space, role, options, (session) => {
          renew = session.renewAnswer
          if (mode === 'read') return reading(session.sql, timeoutMs, execute)
          return writing(session, { timeoutMs, acting: journalActor, undo: explain !== undefined }, execute)
        })
        .catch((error: unknown) => {
          if (error instanceof AnswerTooLargeError) {
            if (mayBeCut) return collector.cut()
            throw resultTooLargeError('/sql', maxBytes, error)
          }
          const writtenPosition = (position: number) => statement.writtenPosition(position - prefix.length)
          throw explainFailure(error, { path: '/sql', writtenPosition })
        })
      const result = await presenting(() => found.result(namesOf))
      const durationMs = Math.round((performance.now() - startedAt) * 10) / 10
      if (!explain)
        return { ...result, durationMs, ...(kind !== 'SelectStmt' && { affected: found.affected }) }
      const [plan] = Object.values(result.rows[0] ?? {})
      return {
        columns: [],
        rows: [],
        rowCount: 0,
        truncated: null,
        durationMs,
        plan: plan ?? null,
      }
    },
  }
}

/** A transaction cannot be switched to read-write after its first query. */
async function reading<T>(sql: Sql, timeoutMs: number, work: (tx: TransactionSql) => Promise<T>): Promise<T> {
  return undone(
    sql.begin('read only', async (tx) => {
      await limitTime(tx, timeoutMs)
      await tx.unsafe('select 1')
      throw new Undone(await work(tx))
    }),
  )
}

interface Writing {
  timeoutMs: number
  acting: JournalActor
  undo: boolean
}

async function writing<T>(
  { sql, act, renewAnswer }: Session,
  { timeoutMs, acting, undo }: Writing,
  work: (tx: TransactionSql) => Promise<T>,
): Promise<T> {
  return undone(
    sql.begin(async (tx) => {
      await limitTime(tx, timeoutMs)
      await act(tx, acting)
      const value = await work(tx)
      if (undo) throw new Undone(value)
      renewAnswer()
      return value as Awaited<T>
    }),
  )
}

const limitTime = (tx: TransactionSql, timeoutMs: number) =>
  tx.unsafe(`set local statement_timeout = ${timeoutMs}`)

async function undone<T>(transaction: Promise<unknown>): Promise<T> {
  try {
    return (await transaction) as T
  } catch (error) {
    if (error instanceof Undone) return error.value as T
    throw error
  }
}
