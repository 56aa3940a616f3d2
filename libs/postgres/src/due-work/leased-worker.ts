import { startDeadline } from '@opsplane/runtime'
import type { StatementRunner } from '../database.js'
import { type ErrorClass, isolateFailures } from './isolate.js'
import {
  doneStatement,
  leaseStatement,
  releaseStatement,
  renewStatement,
  retryStatement,
} from './statements.js'
import {
  type CreateWorker,
  computeRetryDelays,
  createClaim,
  createErrorClassifier,
  type DueRow,
  isRenewalLate,
  nextDueSql,
  runStatement,
  splitBatch,
  type WorkContext,
  type WorkOptions,
} from './work.js'
import { createWorkspaceSlots } from './workspace-slots.js'

export interface LeasedRow extends DueRow {
  fence: string
}

interface LeasedWorkerOptions<Row extends LeasedRow, Result> extends WorkOptions {
  /**
   * Maximum number of rows in flight for one fairness key while others have due rows, so that long attempts of one
   * key leave slots to others; defaults to all slots.
   */
  ofOne?: number
  /** Maximum number of rows that have not failed before in one attempt; 1 if absent. Attempts run concurrently. */
  together?: number
  /** Deadline of one attempt, after which its signal aborts. */
  deadlineMs: number
  /**
   * Renewed while an attempt lasts; the rows of a dead holder are taken over this long after its death. 30 s if
   * absent.
   */
  leaseMs?: number
  /** Performs the external effect, at least once. Returns one result for each row, or throws. */
  perform(rows: readonly Row[], signal: AbortSignal): Promise<readonly Result[]>
  /** Makes the rows no longer due, in the transaction that ends their leases. */
  done(tx: StatementRunner, finished: readonly { row: Row; result: Result }[]): Promise<unknown>
  /** Called after rows were done and committed. */
  committed?: () => void
  /** Called with failed rows in the transaction that delays them; it may end them. */
  failed?: (tx: StatementRunner, rows: readonly { row: Row; error: unknown }[]) => Promise<unknown>
}

/** The rows of one attempt. */
interface Hand<Row> {
  rows: readonly Row[]
  ending: AbortController
}

/**
 * Wraps errors of `perform`, so that they are not taken for errors of Postgres: a refused connection may be to
 * another server.
 */
class AttemptError extends Error {}

/** Work with external effects, on rows that are leased until it is done. */
export function leasedWorker<Row extends LeasedRow, Result>(
  options: LeasedWorkerOptions<Row, Result>,
): CreateWorker {
  return (context) => createLeased(options, context)
}

function createLeased<Row extends LeasedRow, Result>(
  options: LeasedWorkerOptions<Row, Result>,
  context: WorkContext,
) {
  const { of, columns = [], batch, ofOne, together = 1, deadlineMs, leaseMs = 30_000 } = options
  const { sql, log, owner, at, counts, closing } = context
  const claim = createClaim<Row>(options, context, (claimOptions) =>
    leaseStatement(of, columns, {
      ...{ ...claimOptions, owner, leaseMs },
      // The leases of rows in flight may have expired while Postgres was unavailable.
      except: leasedRows().map(({ key }) => key),
    }),
  )
  const hands = new Map<Hand<Row>, Promise<void>>()
  /** Large claims cost less; with a limit per key, free slots are offered to others immediately. */
  const maxBeforeClaim = ofOne === undefined ? batch / 2 : batch - 1
  const places = createWorkspaceSlots({ all: batch, ofOne: ofOne ?? batch })
  const cutting = new AbortController()
  const databaseMeaning = createErrorClassifier(options)
  const leasedRows = () => [...hands.keys()].flatMap(({ rows }) => rows)

  const meaning = (error: unknown): ErrorClass => {
    if (!(error instanceof AttemptError)) return databaseMeaning(error)
    return cutting.signal.aborted || options.isRetryable?.(error.cause) ? 'passing' : 'fault'
  }

  async function attempt(rows: readonly Row[], abortSignal: AbortSignal): Promise<Result[]> {
    const { signal, clear } = startDeadline(deadlineMs, abortSignal, cutting.signal)
    const results = await options
      .perform(rows, signal)
      .catch((cause: unknown) => {
        throw new AttemptError('attempt failed', { cause })
      })
      .finally(clear)
    await sql.begin(async (tx) => {
      const kept = await runStatement<{ key: string }>(tx, doneStatement(of, rows))
      const keys = new Set(kept.map(({ key }) => key))
      const finished = rows.flatMap((row, index) =>
        keys.has(row.key) ? [{ row, result: results[index] as Result }] : [],
      )
      if (finished.length > 0) await options.done(tx, finished)
      counts.done += finished.length
      counts.lost += rows.length - finished.length
    })
    options.committed?.()
    return [...results]
  }

  async function work({ rows, ending }: Hand<Row>): Promise<void> {
    const { done, failed, untried } = await isolateFailures(
      rows,
      (part) => attempt(part, ending.signal),
      meaning,
    )
    worker.fruitless = done.length > 0 ? 0 : worker.fruitless + 1
    if (untried.length > 0) await runStatement(sql, releaseStatement(of, untried))
    if (failed.length === 0) return
    const causes = failed.map(({ row, error }) => ({
      row,
      error: error instanceof AttemptError ? error.cause : error,
    }))
    await sql.begin(async (tx) => {
      const kept = await runStatement<{ key: string }>(
        tx,
        retryStatement(of, computeRetryDelays(options, log, causes), at()),
      )
      const keys = new Set(kept.map(({ key }) => key))
      const ownedFailures = causes.filter(({ row }) => keys.has(row.key))
      if (ownedFailures.length > 0) await options.failed?.(tx, ownedFailures)
      counts.failed += ownedFailures.length
      counts.lost += causes.length - ownedFailures.length
    })
  }

  /** How many rows are claimed, and of which keys. */
  async function nextTurns() {
    const { all, ofOne: each, full } = places.capacity()
    if (ofOne === undefined) return { limit: all, turns: await claim.turns(all) }
    const limit = full.size > 0 ? all : Math.min(all, each)
    const turns = await claim.turns(limit, { full, ofOne: each })
    // No other key has due rows for the slots that a limit would leave free.
    return turns?.keys.length === 0 ? { limit: all, turns: undefined } : { limit, turns }
  }

  function begin(rows: readonly Row[]) {
    const hand = { rows, ending: new AbortController() }
    for (const { turn = '' } of rows) places.occupy(turn)
    const completion = work(hand)
      // Rows whose outcome could not be recorded are claimed again when their lease has expired.
      .catch((error: unknown) =>
        log.warn(
          { err: error, work: options.name },
          'the outcome of due work could not be recorded; it is done again when its lease expires',
        ),
      )
      .finally(() => {
        hands.delete(hand)
        for (const { turn = '' } of rows) places.free(turn)
      })
    hands.set(hand, completion)
    if (renewing) return
    renewedAtMs = performance.now()
    renewing = setInterval(() => void renew().catch(() => {}), leaseMs / 3).unref()
  }

  let renewing: NodeJS.Timeout | undefined
  let renewedAtMs = 0
  const rest = () => {
    clearInterval(renewing)
    renewing = undefined
  }
  /** Aborts attempts whose rows now belong to another holder. */
  async function renew() {
    const currentRows = leasedRows()
    if (currentRows.length === 0) return rest()
    const kept = await runStatement<{ key: string }>(
      sql,
      renewStatement(of, currentRows, { at: at(), leaseMs }),
    )
    renewedAtMs = performance.now()
    const keys = new Set(kept.map(({ key }) => key))
    const lost = new Set(currentRows.filter(({ key }) => !keys.has(key)))
    for (const { rows, ending } of hands.keys()) if (rows.every((row) => lost.has(row))) ending.abort()
  }
  const worker = {
    options,
    nextDue: nextDueSql(options),
    fruitless: 0,
    async round() {
      while (leasedRows().length > maxBeforeClaim) await Promise.race(hands.values())
      await options.prepare?.(context)
      if (isRenewalLate(renewedAtMs, leaseMs)) await renew()
      const { limit, turns } = await nextTurns()
      if (closing.aborted) return false
      const rows = await claim.rows(sql, limit, turns)
      for (const part of splitBatch(rows, together)) begin(part)
      if (rows.length === 0) worker.fruitless++
      return rows.length >= limit || (turns !== undefined && rows.length > 0)
    },
    async drain(graceMs: number) {
      const cut = setTimeout(() => cutting.abort(), graceMs)
      await Promise.all(hands.values())
      clearTimeout(cut)
      rest()
    },
  }
  return worker
}
