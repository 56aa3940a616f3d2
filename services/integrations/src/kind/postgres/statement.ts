import type { ParameterType, QueryResult } from '@opsplane/contracts'
import { collectRows, isDatabaseUnavailable, type Json, parameterText } from '@opsplane/postgres'
import type { Session } from './session.js'

export interface Statement {
  sql: string
  parameters: readonly unknown[]
  types: readonly (ParameterType | null)[]
  maxRows: number
}

export interface StatementResult extends Omit<QueryResult, 'durationMs' | 'plan'> {
  /** Number of changed or returned rows. */
  affected: number
}

export interface Running {
  /** `read`: in a read-only transaction that is rolled back. `write`: in a transaction that is committed. */
  mode: 'read' | 'write'
  timeoutMs: number
}

const maxBytes = 1_048_576

/** The session was lost before any part of the statement was sent. */
export class StatementNotStartedError extends Error {
  override name = 'NeverStarted'
}

/** Runs one statement in its own transaction. Throws errors of Postgres, or `StatementNotStartedError`. */
export async function runStatement(
  { sql, namesOf }: Session,
  { sql: text, parameters, types, maxRows }: Statement,
  { mode, timeoutMs }: Running,
): Promise<StatementResult> {
  const values = parameters.map((value, index) => parameterText(value as Json, types[index] ?? undefined))
  // The simple protocol accepts several statements in one round trip.
  await sql.unsafe(beginStatements(mode, timeoutMs)).catch((cause: unknown) => {
    throw isDatabaseUnavailable(cause)
      ? new StatementNotStartedError('The connection to the database was lost.', { cause })
      : cause
  })
  try {
    const collected = await collectRows(sql, {
      ...{ text, values, maxRows, maxBytes, drain: mode === 'write', whole: hasNoCount.test(text) },
      types: values.map((_, index) => typeNumbers[types[index] ?? 'unknown']),
    })
    const result = await collected.result(namesOf)
    await sql.unsafe(mode === 'read' ? 'rollback' : 'commit')
    return { ...result, affected: mode === 'read' ? 0 : collected.affected }
  } catch (error) {
    // If the rollback fails, the connection is lost anyway.
    await sql.unsafe('rollback').catch(() => {})
    throw error
  }
}

/** `select 1`: after a query, a transaction cannot be switched from read-only to read-write any more. */
const beginStatements = (mode: Running['mode'], timeoutMs: number) =>
  `begin${mode === 'read' ? ' read only' : ''}; set local statement_timeout = ${Math.ceil(timeoutMs)};
   set local timezone = 'UTC'; set local datestyle = 'ISO'; set local bytea_output = 'hex'; select 1`

/** postgres.js has no cursor for these statements. */
const hasNoCount = /^\s*(?:explain|show)\b/i

/** Type OIDs of Postgres, which infers the type of an `unknown` parameter from its position in the statement. */
const typeNumbers: Record<ParameterType | 'unknown', number> = {
  ...{
    unknown: 705,
    text: 25,
    integer: 23,
    bigint: 20,
    decimal: 1700,
    boolean: 16,
    date: 1082,
    timestamp: 1184,
  },
  ...{ json: 3802, uuid: 2950, 'text[]': 1009, 'integer[]': 1007, 'bigint[]': 1016, 'decimal[]': 1231 },
  ...{ 'boolean[]': 1000, 'date[]': 1182, 'timestamp[]': 1185, 'uuid[]': 2951 },
  ...{ float: 701, time: 1083, local_timestamp: 1114, interval: 1186 },
  ...{ 'float[]': 1022, 'time[]': 1183, 'local_timestamp[]': 1115, 'interval[]': 1187 },
}
