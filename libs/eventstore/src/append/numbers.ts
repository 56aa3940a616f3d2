import { type Database, translatePostgresError } from '@opsplane/postgres'

export interface Numbers {
  /** The next number of a kind in a workspace: increasing, never given out twice. Gaps can happen. */
  next(workspaceId: string, kind: string): Promise<number>
}

interface Waiting {
  resolve(number: number): void
  reject(error: unknown): void
}

/**
 * Numbers come from a counter row, incremented in a statement of its own, so that no workspace waits for another
 * request's commit. Callers that arrive while one statement is under way share the next.
 *
 * The statement commits with synchronous_commit off: it returns before its WAL is flushed. That is safe because
 * WAL is flushed in order. The record that uses the number is committed after the counter, so its commit record
 * lies behind the counter's in the WAL, and flushing it flushes the counter too. After a crash either the record
 * is there and so is the counter, or neither is, and then nobody has seen the number.
 */
export function createNumbers(sql: Database['sql']): Numbers {
  let waiting = new Map<string, { workspaceId: string; kind: string; callers: Waiting[] }>()
  let flushing = false

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
        counters.map(([, counter]) => counter.workspaceId),
        counters.map(([, counter]) => counter.kind),
        counters.map(([, counter]) => String(counter.callers.length)),
      ],
      { prepare: true },
    )
    for (const row of rows) {
      const { callers } = batch.get(keyOf(row.workspace_id, row.kind)) ?? { callers: [] }
      const first = Number(row.last) - callers.length + 1
      for (const [index, caller] of callers.entries()) caller.resolve(first + index)
    }
  }

  return {
    next: (workspaceId, kind) =>
      new Promise((resolve, reject) => {
        const key = keyOf(workspaceId, kind)
        const counter = waiting.get(key) ?? { workspaceId, kind, callers: [] }
        waiting.set(key, counter)
        counter.callers.push({ resolve, reject })
        if (flushing) return
        flushing = true
        // After the requests that arrived in the same turn of the event loop, so that they share the statement.
        setImmediate(() => void flush())
      }),
  }
}

// The setting holds for this statement's transaction only and is evaluated before its commit looks at it.
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
