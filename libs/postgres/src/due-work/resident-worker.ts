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

/** What is worked on in memory for as long as it takes, by a holder of its own. */
export interface ResidentWork<Row extends ResidentRow> {
  /** How many more rows it takes, of anybody and of one fairness key. */
  room(): { all: number; ofOne: number; full: ReadonlySet<string> }
  /** Resolves when there is more room than now. */
  moreRoom(): Promise<void>
  /** What it holds by now, rows it has leased by itself included, but none before its lease is committed. */
  held(): readonly ClaimedRow[]
  take(rows: readonly Row[]): void
  /** Leases that have passed to others: what is done for them counts no more. */
  lost(held: readonly ClaimedRow[]): void
  /** Called whenever the leases were renewed. */
  renewed?(): void
  /** Ends what is in hand, or gives it back after so long. */
  drain(graceMs: number): Promise<void>
}

export interface ResidentWorkerOptions<Row extends ResidentRow> extends Omit<WorkOptions, 'batch'> {
  /** Kept up while a row is held; a dead holder's rows are taken over so long after its death. 30 s without. */
  leaseMs?: number
  holder: ResidentWork<Row>
}

/** While there is no room for whoever has something due, it is looked so often whether somebody else has. */
const fullMs = 250

/**
 * Work that goes on in memory under a lease, for any number of transactions: rows are claimed for a holder that ends the
 * leases in its own statements, by the fence.
 */
export function residentWorker<Row extends ResidentRow>(options: ResidentWorkerOptions<Row>): CreateWorker {
  const { of, columns = [], leaseMs = 30_000, holder } = options
  return (context) => {
    const { sql, owner, at, counts, closing } = context
    const claim = createClaim<Row>({ ...options, batch: 0 }, context, (asked) =>
      leaseStatement(of, columns, {
        ...{ ...asked, owner, leaseMs },
        // The lease of what is in hand may have run out while Postgres was away.
        except: holder.held().map(({ key }) => key),
      }),
    )
    let renewedAtMs = performance.now()
    const renew = async () => {
      const rows = holder.held()
      if (rows.length > 0) {
        const kept = await runStatement<{ key: string }>(sql, renewStatement(of, rows, { at: at(), leaseMs }))
        const keys = new Set(kept.map(({ key }) => key))
        const lost = rows.filter(({ key }) => !keys.has(key))
        counts.lost += lost.length
        holder.lost(lost)
      }
      renewedAtMs = performance.now()
      holder.renewed?.()
    }
    const stopRenewing = onIdleTicks(leaseMs / 3, () => void renew().catch(() => {}))

    const worker = {
      options: { ...options, batch: 0 },
      nextDue: nextDueSql({ ...options, batch: 0 }),
      fruitless: 0,
      async round() {
        if (isRenewalLate(renewedAtMs, leaseMs)) await renew()
        const { all, ofOne, full } = holder.room()
        // Whoever holds as much as one may is left out, which takes turns to do.
        const limit = full.size > 0 ? all : Math.min(all, ofOne)
        const turns = limit > 0 ? await claim.turns(limit, { full, ofOne }) : { keys: [], each: 0 }
        if (closing.aborted) return false
        if (turns?.keys.length === 0) {
          await Promise.race([holder.moreRoom(), delay(fullMs, closing)])
          return true
        }
        const rows = await claim.rows(sql, limit, turns)
        if (rows.length > 0) holder.take(rows)
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
