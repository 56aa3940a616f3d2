import { idTime } from '@opsplane/contracts'
import type { Database, StatementRunner } from '@opsplane/postgres'
import { delay, type Logger } from '@opsplane/runtime'
import type { Commit } from './append/commit.js'

/** The partitions of the log: see ADR 036. */
export interface LogMonths {
  /** Makes the months that the events of these commits go to, where this process has not seen them yet. */
  ensure(sql: StatementRunner, commits: readonly Commit[]): Promise<void>
}

export function createLogMonths(): LogMonths {
  const known = new Set<number>()
  /** The month of the last event, in Unix milliseconds: most are of the same one. */
  let last = { start: 0, end: 0 }
  return {
    async ensure(sql, commits) {
      for (const { events } of commits)
        for (const { id } of events) {
          const at = idTime(id)
          if (at >= last.start && at < last.end) continue
          const month = monthOf(at)
          if (!known.has(month.start)) {
            await sql.unsafe('select add_event_month($1::text::date)', [new Date(at).toISOString()])
            known.add(month.start)
          }
          last = month
        }
    },
  }
}

/** UTC. */
function monthOf(at: number): { start: number; end: number } {
  const date = new Date(at)
  const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()]
  return { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) }
}

const monthsAhead = 3
const dayMs = 24 * 3_600_000

/** Makes the present month and those ahead, now and every day, until closed. */
export function startLogMonths(sql: Database['sql'], log: Logger): { close(): Promise<void> } {
  const closing = new AbortController()
  const run = async () => {
    while (!closing.signal.aborted) {
      try {
        await sql.unsafe(
          `select add_event_month((now() at time zone 'UTC' + make_interval(months => ahead))::date)
           from generate_series(0, ${monthsAhead}) ahead`,
        )
      } catch (error) {
        log.warn({ err: error }, 'the months ahead could not be added to the log')
      }
      await delay(dayMs, closing.signal)
    }
  }
  const running = run()
  return {
    close: async () => {
      closing.abort()
      await running
    },
  }
}
