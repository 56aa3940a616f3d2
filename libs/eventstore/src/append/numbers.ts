import { type Database, translatePostgresError } from '@opsplane/postgres'
import { LRUCache } from 'lru-cache'

export interface Numbers {
  /**
   * The next number of `kind` in a workspace: increasing, never assigned twice, possibly with gaps. `ahead` is for
   * callers that need many numbers: the result may come from a range reserved earlier, and other replicas may have
   * assigned higher numbers within the last second.
   */
  next(workspaceId: string, kind: string, options?: { ahead: boolean }): Promise<number>
}

interface Waiting {
  resolve(number: number): void
  reject(error: unknown): void
}

interface Counter {
  workspaceId: string
  kind: string
  /** How many further numbers to reserve for later callers. */
  ahead: number
  callers: Waiting[]
}

/** Numbers of a counter that are reserved but not yet assigned. */
interface Reserve {
  next: number
  last: number
  takenAt: number
  /** How many callers have received a number since then. */
  given: number
}

/**
 * A statement reserves numbers for the demand expected in this period, estimated from the demand since the last
 * statement.
 */
const aheadMs = 100
const maxAhead = 64
/** Reserved numbers expire after this time and leave a gap, because other replicas assign higher numbers meanwhile. */
const reservedMs = 1_000
const countersKnown = 1_000

/**
 * Assigns numbers from a counter row that is incremented in a separate statement, so that no workspace waits for
 * another request's commit. Callers that arrive while a statement is running share the next one. If callers arrive
 * one after the other, more than 10 a second, a statement also reserves numbers for the callers to come.
 *
 * The statement commits with synchronous_commit off: it returns before its WAL is flushed. That is safe because
 * WAL is flushed in order. The record that uses the number is committed after the counter, so its commit record
 * lies behind the counter's in the WAL, and flushing it flushes the counter too. After a crash either both the
 * record and the counter exist, or neither does, and then the number was never used.
 *
 * `nowMs`: a monotonic clock.
 */
export function createNumbers(sql: Database['sql'], nowMs = () => performance.now()): Numbers {
  let waiting = new Map<string, Counter>()
  let flushing = false
  const reserves = new LRUCache<string, Reserve>({ max: countersKnown })

  const reserved = (key: string): number | undefined => {
    const reserve = reserves.get(key)
    if (!reserve || reserve.next > reserve.last || nowMs() - reserve.takenAt > reservedMs) return undefined
    reserve.given++
    return reserve.next++
  }
  const aheadOf = (key: string): number => {
    const { given, takenAt } = reserves.get(key) ?? { given: 0, takenAt: 0 }
    const elapsedMs = nowMs() - takenAt
    return Math.min(maxAhead, Math.floor((given * aheadMs) / elapsedMs))
  }

  const flush = async () => {
    while (waiting.size > 0) {
      const batch = waiting
      waiting = new Map()
      try {
        await increment(batch)
      } catch (error) {
        const translated = translatePostgresError(error)
        for (const { callers } of batch.values()) for (const caller of callers) caller.reject(translated)
      }
    }
    flushing = false
  }

  const increment = async (batch: typeof waiting) => {
    // Sorted, so that two replicas lock the same counters in the same order.
    const counters = [...batch.entries()].sort(([left], [right]) => (left < right ? -1 : 1))
    const rows = await sql.unsafe<{ workspace_id: string; kind: string; last: string }[]>(
      incrementStatement,
      [
        counters.map(([, { workspaceId }]) => workspaceId),
        counters.map(([, { kind }]) => kind),
        counters.map(([, { callers, ahead }]) => String(callers.length + ahead)),
      ],
      { prepare: true },
    )
    for (const row of rows) {
      const key = keyOf(row.workspace_id, row.kind)
      const { callers, ahead } = batch.get(key) ?? { callers: [], ahead: 0 }
      const last = Number(row.last)
      const first = last - ahead - callers.length + 1
      reserves.set(key, {
        ...{ next: first + callers.length, last },
        ...{ takenAt: nowMs(), given: callers.length },
      })
      for (const [index, caller] of callers.entries()) caller.resolve(first + index)
    }
  }

  return {
    next: (workspaceId, kind, { ahead } = { ahead: false }) =>
      new Promise((resolve, reject) => {
        const key = keyOf(workspaceId, kind)
        const number = ahead && !waiting.has(key) ? reserved(key) : undefined
        if (number !== undefined) return resolve(number)
        const counter = waiting.get(key) ?? { workspaceId, kind, ahead: 0, callers: [] }
        waiting.set(key, counter)
        if (ahead) counter.ahead = aheadOf(key)
        counter.callers.push({ resolve, reject })
        if (flushing) return
        flushing = true
        // Deferred until all requests of this event-loop turn have arrived, so that they share the statement.
        setImmediate(() => void flush())
      }),
  }
}

// The setting applies to this statement's transaction only and is evaluated before the commit reads it.
const incrementStatement = `
  with relaxed as materialized (select set_config('synchronous_commit', 'off', true))
  insert into number_counters as c (workspace_id, kind, last)
  select t.workspace_id, t.kind, t.n::bigint
  from unnest($1::text[], $2::text[], $3::text[]) as t (workspace_id, kind, n), relaxed
  on conflict (workspace_id, kind) do update set last = c.last + excluded.last
  returning workspace_id, kind, last`

function keyOf(workspaceId: string, kind: string): string {
  return `${workspaceId}/${kind}`
}
