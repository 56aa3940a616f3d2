import type { StatementRunner } from '../database.js'
import { isolateFailures } from './isolate.js'
import { doneStatement, lockStatement, retryStatement } from './statements.js'
import {
  type CreateWorker,
  computeRetryDelays,
  createClaim,
  createErrorClassifier,
  type DueRow,
  nextDueSql,
  runStatement,
  splitBatch,
  type WorkOptions,
} from './work.js'

interface TransactionWorkerOptions<Row extends DueRow> extends WorkOptions {
  /**
   * Does all the work in this transaction, or throws. It must make the rows no longer due, through the table's own
   * columns. After a failure its changes are rolled back, and it is called again with fewer rows.
   */
  perform(tx: StatementRunner, rows: readonly Row[]): Promise<unknown>
  /** Called after rows were done and committed. */
  committed?: () => void
}

/**
 * Short work on the database alone, done in the transaction that claimed the rows: its locks serve as leases.
 * Failed rows are rolled back to a savepoint and delayed; the rest of the batch is committed.
 */
export function transactionWorker<Row extends DueRow>(options: TransactionWorkerOptions<Row>): CreateWorker {
  const { of, columns = [], batch, perform } = options
  return (context) => {
    const { sql, log, at, counts } = context
    const claim = createClaim<Row>(options, context, (claimOptions) =>
      lockStatement(of, columns, claimOptions),
    )

    const batchOf = async (turns: Awaited<ReturnType<typeof claim.turns>>) =>
      sql.begin(async (tx) => {
        const rows = await claim.rows(tx, batch, turns)
        const attempt = (part: readonly Row[]) =>
          tx.savepoint(async (inner) => {
            await perform(inner, part)
            return part.map(() => undefined)
          })
        const result = { claimed: rows.length, done: 0, failed: 0 }
        for (const part of splitBatch(rows, batch)) {
          const { done, failed } = await isolateFailures(part, attempt, createErrorClassifier(options))
          result.done += done.length
          result.failed += failed.length
          const mended = done.flatMap(({ row }) => (row.failures > 0 ? [row] : []))
          if (mended.length > 0) await runStatement(tx, doneStatement(of, mended))
          if (failed.length > 0)
            await runStatement(tx, retryStatement(of, computeRetryDelays(options, log, failed), at()))
        }
        return result
      })

    const worker = {
      options,
      nextDue: nextDueSql(options),
      fruitless: 0,
      async round() {
        await options.prepare?.(context)
        const turns = await claim.turns(batch)
        const { claimed, done, failed } = await batchOf(turns)
        counts.done += done
        counts.failed += failed
        worker.fruitless = done > 0 ? 0 : worker.fruitless + 1
        if (done > 0) options.committed?.()
        return claimed >= batch || (turns !== undefined && claimed > 0)
      },
      // A running round is short, and its group waits for it.
      drain: () => Promise.resolve(),
    }
    return worker
  }
}
