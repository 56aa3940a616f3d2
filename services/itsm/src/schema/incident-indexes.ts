import { type Priority, priorities, type Severity, severities } from '@opsplane/contracts'
import { sql } from 'drizzle-orm'

// Conditions of partial indexes, spelled the same in table and query, as Postgres compares them.

/** Unique over the dedup keys of the incidents that take alerts. */
export const dedupKeyIndex = 'incidents_dedup_key'
export const takingAlerts = sql.raw(`dedup_key is not null and status in ('open', 'in_progress', 'on_hold')`)

export const isMajor = sql.raw(`major_state <> 'none'`)

/** The incidents that may be closed by themselves. */
export const closedByItself = sql.raw(`status = 'resolved' and major_state is distinct from 'accepted'`)
export const resolvedSince = sql.raw(`(state->>'resolvedAt')`)

/** The values of a field from the most urgent on, and which one states from before the field have. */
interface Ranked {
  field: string
  values: readonly string[]
  fallback: string
}

const byPriority: Ranked = { field: 'priority', values: priorities, fallback: 'P3' satisfies Priority }
const bySeverity: Ranked = { field: 'severity', values: severities, fallback: 'low' satisfies Severity }
/** What incidents can be sorted by urgency by. */
export const ranked = { priority: byPriority, severity: bySeverity }

const rankOf = ({ values }: Ranked, value: string) => values.indexOf(value) + 1

/** Rank and creation in one text, so that a list pages by one column: of equals, the one that waits longest is first. */
export function urgency(of: Ranked) {
  const ranks = of.values.map((value) => `when '${value}' then '${rankOf(of, value)} '`)
  return sql.raw(
    `case state->>'${of.field}' ${ranks.join(' ')} else '${rankOf(of, of.fallback)} ' end || (state->>'createdAt')`,
  )
}

/** Between which texts those of these values lie: the first one is among them, the other is not. */
export function urgencyRange(of: Ranked, values: readonly string[]): [string, string] {
  const ranks = values.map((value) => rankOf(of, value))
  return [String(Math.min(...ranks)), String(Math.max(...ranks) + 1)]
}
