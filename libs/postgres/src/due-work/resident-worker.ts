import { delay, onIdleTicks } from '@opsplane/runtime'
import { type ClaimedRow, leaseStatement, renewStatement } from './statements.js'
import {
  type CreateWorker,
  createClaim,
  type DueRow,
  isRenewalLate,
  nextDueSql,
  runStatement,
  type WorkOptions,
} from './work.js'

export interface ResidentRow extends DueRow {
  fence: string
}

/** A holder that works on rows in memory for any length of time. */
export interface ResidentWork<Row extends ResidentRow> {
  /** How many more rows it accepts, in total and of one fairness key. */
  capacity(): { all: number; ofOne: number; full: ReadonlySet<string> }
  /** Resolves when it has more capacity than now. */
  waitForCapacity(): Promise<void>
  /** The rows it has, including those it has leased itself, but none before its lease is committed. */
  leasedRows(): readonly ClaimedRow[]
  accept(rows: readonly Row[]): void
  /** Called with leases that have passed to others: further work on their rows does not count. */
  onLeasesLost(leasedRows: readonly ClaimedRow[]): void
  /** Called whenever the leases were renewed. */
  onRenewed?(): void
  /** Finishes work in flight, or releases it after the grace period. */
  drain(graceMs: number): Promise<void>
}

interface ResidentWorkerOptions<Row extends ResidentRow> extends Omit<WorkOptions, 'batch'> {
  /**
   * Renewed while the holder has a row; the rows of a dead holder are taken over this long after its death. 30 s if
   * absent.
   */
  leaseMs?: number
  work: ResidentWork<Row>
}

/** While workspaces with due rows are at their limit: how often others are checked for. */
const fullMs = 250

/**
 * Work that continues in memory under a lease, over any number of transactions: rows are claimed for a holder,
 * which ends the leases with its own statements, by the fence.
 */
export function residentWorker<Row extends ResidentRow>(options: ResidentWorkerOptions<Row>): CreateWorker {
  const { of, columns = [], leaseMs = 30_000, work: holder } = options
  return (context) => {
    const { sql, owner, at, counts, closing } = context
    const claim = createClaim<Row>({ ...options, batch: 0 }, context, (claimOptions) =>
      leaseStatement(of, columns, {
        ...{ ...claimOptions, owner, leaseMs },
        // The leases of rows in flight may have expired while Postgres was unavailable.
        except: holder.leasedRows().map(({ key }) => key),
      }),
    )
    let renewedAtMs = performance.now()
    const renew = async () => {
      const rows = holder.leasedRows()
      if (rows.length > 0) {
        const kept = await runStatement<{ key: string }>(sql, renewStatement(of, rows, { at: at(), leaseMs }))
        const keys = new Set(kept.map(({ key }) => key))
        const lost = rows.filter(({ key }) => !keys.has(key))
        counts.lost += lost.length
        holder.onLeasesLost(lost)
      }
      renewedAtMs = performance.now()
      holder.onRenewed?.()
    }
    const stopRenewing = onIdleTicks(leaseMs / 3, () => void renew().catch(() => {}))

    const worker = {
      options: { ...options, batch: 0 },
      nextDue: nextDueSql({ ...options, batch: 0 }),
      fruitless: 0,
      async round() {
        if (isRenewalLate(renewedAtMs, leaseMs)) await renew()
        const { all, ofOne, full } = holder.capacity()
        // Workspaces at their limit are left out, which needs a claim by shares.
        const limit = full.size > 0 ? all : Math.min(all, ofOne)
        const turns = limit > 0 ? await claim.turns(limit, { full, ofOne }) : { keys: [], each: 0 }
        if (closing.aborted) return false
        if (turns?.keys.length === 0) {
          await Promise.race([holder.waitForCapacity(), delay(fullMs, closing)])
          return true
        }
        const rows = await claim.rows(sql, limit, turns)
        if (rows.length > 0) holder.accept(rows)
        worker.fruitless = rows.length > 0 ? 0 : worker.fruitless + 1
        return rows.length >= limit || (turns !== undefined && rows.length > 0)
      },
      async drain(graceMs: number) {
        await holder.drain(graceMs)
        stopRenewing()
      },
    }
    return worker
  }
}
