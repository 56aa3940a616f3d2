import { type Logger, retryDelayMs } from '@opsplane/runtime'
import type { Database, StatementRunner } from '../database.js'
import { isDatabaseUnavailable, isRetryable } from '../errors.js'
import type { DueTable } from './due-table.js'
import { createFairClaims, type FairClaims, type ShareBounds, unsharedClaims } from './fair-claims.js'
import type { ErrorClass } from './isolate.js'
import {
  type ClaimOptions,
  dueKeysStatement,
  nextDue,
  type RetryDelay,
  retryStatement,
  type Statement,
} from './statements.js'

/** A claimed row, with the additionally requested columns. */
export interface DueRow {
  key: string
  /** Number of failures since it was last done. */
  failures: number
  /** The time of the claim by the database's clock, or the simulated time; commands use it as their time. */
  at: string
  /** How long the row had been due when it was claimed. */
  lagMs: number
  /** Its fairness key, if the table has one. */
  turn?: string
}

/** Options common to both kinds of work. */
export interface WorkOptions {
  /** Identifies the work in the log and in hints. */
  name: string
  of: DueTable
  /** Columns to return with claimed rows. */
  columns?: readonly string[]
  /** The maximum number of rows in flight. */
  batch: number
  /** Delay of a row after its first failure, doubled each time up to a maximum; by default from 1 s to 10 min. */
  retry?: { baseMs: number; maxMs: number }
  /** An additional condition for rows that may be claimed now; no index needs to cover it. */
  where?: string
  /** Finds and locks due rows in another way than by the table's indexes; not in turns. */
  claim?: (options: ClaimOptions) => Statement
  /** When the next row is due, if the table does not determine it: an expression of type timestamptz. */
  nextDue?: string
  /** Polling interval for due rows while idle; 10 s if absent. */
  lookEveryMs?: number
  /** Makes rows due that depend on other data, before each claim. */
  prepare?: (context: WorkContext) => Promise<unknown>
  /** Whether an error does not concern the rows of the attempt: they are then retried unchanged. */
  isRetryable?: (error: unknown) => boolean
}

export interface DueCounts {
  claimed: number
  done: number
  failed: number
  /** Rows done by a holder whose lease had passed to another one. */
  lost: number
  /** Maximum lag of a claimed row since the counts were last read. */
  lagMs: number
}

/** Passed by a group to its work. */
export interface WorkContext {
  sql: Database['sql']
  log: Logger
  owner: string
  /** The time of tests that simulate it; `null` for the database's own. */
  at(): string | null
  counts: DueCounts
  /** Nothing is claimed once it has aborted. */
  closing: AbortSignal
}

/** One kind of work, driven by its group. */
export interface Worker {
  options: WorkOptions
  nextDue: string
  /** Number of consecutive rounds in which nothing was done. */
  fruitless: number
  /** Claims once and works. Resolves to whether more rows may be due immediately. */
  round(): Promise<boolean>
  /** Waits for work in flight; after `graceMs` it is aborted and released. */
  drain(graceMs: number): Promise<void>
}

export type CreateWorker = (context: WorkContext) => Worker

export async function runStatement<Row extends object>(on: StatementRunner, { text, parameters }: Statement) {
  return on.unsafe<Row[]>(text, parameters, { prepare: true })
}

/** Claims with the statement of the work's kind, in turns if the table has a fairness key. */
export function createClaim<Row extends DueRow>(
  { of, claim, where }: WorkOptions,
  { sql, at, counts }: WorkContext,
  statement: (options: ClaimOptions) => Statement,
) {
  const turns: FairClaims =
    of.fairKey === undefined || claim
      ? unsharedClaims
      : createFairClaims(async () => {
          const rows = await runStatement<{ one: string }>(sql, dueKeysStatement(of, at()))
          return rows.map(({ one }) => one)
        })
  return {
    turns: (limit: number, bounds?: ShareBounds) => turns.next(limit, bounds),
    async rows(on: StatementRunner, limit: number, claimTurns: Awaited<ReturnType<FairClaims['next']>>) {
      const found = await runStatement<Row>(
        on,
        (claim ?? statement)({ at: at(), limit, where, turns: claimTurns }),
      )
      turns.claimed(
        limit,
        claimTurns,
        found.map(({ turn }) => turn),
      )
      counts.claimed += found.length
      counts.lagMs = Math.max(counts.lagMs, ...found.map(({ lagMs }) => lagMs))
      return [...found]
    },
  }
}

/** Delays rows that failed outside an attempt, for example while they were prepared. */
export async function delayFailedRows(
  options: Pick<WorkOptions, 'name' | 'of' | 'retry'>,
  { sql, log, at }: Pick<WorkContext, 'sql' | 'log' | 'at'>,
  failed: readonly { row: Pick<DueRow, 'key' | 'failures'> & { fence?: string }; error: unknown }[],
): Promise<void> {
  if (failed.length > 0)
    await runStatement(sql, retryStatement(options.of, computeRetryDelays(options, log, failed), at()))
}

/**
 * Whether a renewal was missed, for example while Postgres was unavailable: it must then run before a claim, or
 * other replicas claim the rows in flight.
 */
export const isRenewalLate = (renewedAtMs: number, leaseMs: number): boolean =>
  performance.now() - renewedAtMs > leaseMs / 2

export const nextDueSql = ({ nextDue: given, of }: WorkOptions): string => given ?? nextDue(of)

/** Rows that have failed before are attempted alone, so that they do not cost others their attempt. */
export function splitBatch<Row extends DueRow>(rows: readonly Row[], together: number): Row[][] {
  const fresh = rows.filter(({ failures }) => failures === 0)
  const parts = rows.filter(({ failures }) => failures > 0).map((row) => [row])
  for (let from = 0; from < fresh.length; from += together) parts.push(fresh.slice(from, from + together))
  return parts
}

/** Classifies an error of a statement by its meaning for the rows of the attempt. */
export const createErrorClassifier =
  ({ isRetryable: own }: Pick<WorkOptions, 'isRetryable'>) =>
  (error: unknown): ErrorClass =>
    isDatabaseUnavailable(error) ? 'away' : isRetryable(error) || own?.(error) ? 'passing' : 'fault'

const maxCharacters = 500

/** Delays of failed rows. Logs the first failure of each row. */
export function computeRetryDelays<Row extends Pick<DueRow, 'key' | 'failures'> & { fence?: string }>(
  { name, retry = { baseMs: 1_000, maxMs: 600_000 } }: Pick<WorkOptions, 'name' | 'retry'>,
  log: Logger,
  failed: readonly { row: Row; error: unknown }[],
): RetryDelay[] {
  return failed.map(({ row, error }) => {
    const { key, failures, fence } = row
    if (failures === 0) log.warn({ err: error, work: name, key }, 'due work has failed; it is tried again')
    const waitMs = retryDelayMs({ attempt: failures + 1, strategy: 'exponential', ...retry })
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, maxCharacters)
    return { key, ...(fence !== undefined && { fence }), waitMs, error: reason }
  })
}
