import type { StatementRunner } from '@opsplane/postgres'
import { createMonths } from '../log-months.js'
import {
  type AppendOptions,
  type AppendRow,
  appendParameters,
  appendStatement,
  type CommitShape,
} from './append-statement.js'
import type { Commit, CommittedEvent } from './commit.js'
import { createUniqueIndexes } from './unique-indexes.js'

/** Result of a commit: the appended events with their log positions, or the reason it was rejected. */
export type Outcome = { events: CommittedEvent[] } | { verdict: string }

export interface Appender {
  /** Writes commits of the same shape that touch no common rows; returns one outcome per commit. */
  append(
    sql: StatementRunner,
    shape: CommitShape,
    commits: readonly Commit[],
    options: Omit<AppendOptions, 'uniques'>,
  ): Promise<Outcome[]>
}

export function createAppender(): Appender {
  const months = createMonths('add_event_month')
  const uniqueIndexes = createUniqueIndexes()
  const statements = new Map<string, string>()
  let appended = 0
  return {
    async append(sql, shape, commits, options) {
      for (const { events } of commits)
        for (const { id } of events) {
          const made = months.ensure(sql, id)
          if (made) await made
        }
      const key = `${shape.key} ${options.waits} ${options.lockTimeoutMs}`
      const known = statements.get(key)
      const statement =
        known ?? appendStatement(shape, { ...options, uniques: await uniqueIndexes.of(sql, shape.upserts) })
      if (!known) statements.set(key, statement)
      appended += commits.length
      const parameters = appendParameters(shape, commits)
      const rows = await sql.unsafe<AppendRow[]>(statement + growth(appended), parameters, { prepare: true })
      return outcomesOf(commits, rows)
    },
  }
}

/**
 * Suffix of the statement text that changes whenever eight times as many commits have been written, which forces a
 * new plan. A plan made for nearly empty tables uses an arbitrary index or none, which becomes slow as the tables
 * grow.
 */
const growth = (appended: number): string => `\n-- ${Math.floor(Math.log2(appended) / 3)}`

function outcomesOf(commits: readonly Commit[], rows: readonly AppendRow[]): Outcome[] {
  const positions = new Map<string, string>()
  const verdicts = new Map<number, string>()
  for (const row of rows) {
    if (row.n === null) positions.set(row.id, row.position)
    else verdicts.set(row.n, row.verdict)
  }
  return commits.map(({ events }, n) => {
    const verdict = verdicts.get(n)
    if (verdict !== undefined) return { verdict }
    return { events: events.map((event) => ({ ...event, position: placeOf(event.id, positions) })) }
  })
}

function placeOf(id: string, positions: ReadonlyMap<string, string>): string {
  const position = positions.get(id)
  if (position === undefined) throw new Error(`${id} was appended without a position`)
  return position
}
