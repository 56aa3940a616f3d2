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

/** A claimed row, with the further columns that were asked for. */
export interface DueRow {
  key: string
  /** How often it failed since it was last done. */
  failures: number
  /** The time of the claim by the database's clock, or the simulated one: what commands go by. */
  at: string
  /** How late it was claimed. */
  lagMs: number
  /** Whose turn it is, where the table has a fairness key. */
  turn?: string
}

/** What both kinds of work have in common. */
export interface WorkOptions {
  /** Names the work in the log and in hints. */
  name: string
  of: DueTable
  /** Columns the claimed rows come with. */
  columns?: readonly string[]
  /** The maximum number of rows in flight. */
  batch: number
  /** After a failure a row waits for so long, doubled each time; from 1 s to 10 min without. */
  retry?: { baseMs: number; maxMs: number }
  /** A further condition of rows that may be claimed now, which no index need have. */
  where?: string
  /** Finds and locks due rows in another way than by the table's indexes; without turns. */
  claim?: (options: ClaimOptions) => Statement
  /** When the next row is due, where the table does not tell: an expression of type timestamptz. */
  nextDue?: string
  /** At rest it is looked for due rows so often; every 10 s without. */
  lookEveryMs?: number
  /** Makes rows due from what else is there, before each claim. */
  prepare?: (context: WorkContext) => Promise<unknown>
  /** Whether an error says nothing of the rows it was met with: they are tried again as they are. */
  isRetryable?: (error: unknown) => boolean
}

export interface DueCounts {
  claimed: number
  done: number
  failed: number
  /** Done by a holder whose lease had passed to another one. */
  lost: number
  /** Of the row that was claimed the latest, since the last look at the counts. */
  lagMs: number
}

/** What a group gives to its work. */
export interface WorkContext {
  sql: Database['sql']
  log: Logger
  owner: string
  /** The time of tests that simulate it; null for the database's own. */
  at(): string | null
  counts: DueCounts
  /** Nothing is claimed after it. */
  closing: AbortSignal
}

/** One kind of work, driven by its group. */
export interface Worker {
  options: WorkOptions
  nextDue: string
  /** How many rounds in a row got nothing done. */
  fruitless: number
  /** Claims once and works. Whether more may be due at once. */
  round(): Promise<boolean>
  /** Waits for work in flight; after `graceMs` it is cut and released. */
  drain(graceMs: number): Promise<void>
}

export type CreateWorker = (context: WorkContext) => Worker

export async function runStatement<Row extends object>(on: StatementRunner, { text, parameters }: Statement) {
  return on.unsafe<Row[]>(text, parameters, { prepare: true })
}

/** Claims by the statement of its kind, in turns where the table has a fairness key. */
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
    async rows(on: StatementRunner, limit: number, given: Awaited<ReturnType<FairClaims['next']>>) {
      const found = await runStatement<Row>(
        on,
        (claim ?? statement)({ at: at(), limit, where, turns: given }),
      )
      turns.claimed(
        limit,
        given,
        found.map(({ turn }) => turn),
      )
      counts.claimed += found.length
      counts.lagMs = Math.max(counts.lagMs, ...found.map(({ lagMs }) => lagMs))
      return [...found]
    },
  }
}

/** Holds rows back that have failed otherwise than by being worked on, as while they were prepared. */
export async function delayFailedRows(
  options: Pick<WorkOptions, 'name' | 'of' | 'retry'>,
  { sql, log, at }: Pick<WorkContext, 'sql' | 'log' | 'at'>,
  failed: readonly { row: Pick<DueRow, 'key' | 'failures'> & { fence?: string }; error: unknown }[],
): Promise<void> {
  if (failed.length > 0)
    await runStatement(sql, retryStatement(options.of, computeRetryDelays(options, log, failed), at()))
}

/** Whether a renewal was missed, as while Postgres was away: then it runs before a claim, or other replicas claim the rows in flight. */
export const isRenewalLate = (renewedAtMs: number, leaseMs: number): boolean =>
  performance.now() - renewedAtMs > leaseMs / 2

export const nextDueSql = ({ nextDue: given, of }: WorkOptions): string => given ?? nextDue(of)

/** What has failed before is tried alone: it does not cost others their attempt. */
export function splitBatch<Row extends DueRow>(rows: readonly Row[], together: number): Row[][] {
  const fresh = rows.filter(({ failures }) => failures === 0)
  const parts = rows.filter(({ failures }) => failures > 0).map((row) => [row])
  for (let from = 0; from < fresh.length; from += together) parts.push(fresh.slice(from, from + together))
  return parts
}

/** What an error of a statement says of the rows it was met with. */
export const createErrorClassifier =
  ({ isRetryable: own }: Pick<WorkOptions, 'isRetryable'>) =>
  (error: unknown): ErrorClass =>
    isDatabaseUnavailable(error) ? 'away' : isRetryable(error) || own?.(error) ? 'passing' : 'fault'

const maxCharacters = 500

/** How long failed rows wait. Said of each when it begins to fail. */
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
