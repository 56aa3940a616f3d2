import { type Priority, priorities, type Severity, severities } from '@opsplane/contracts'
import { sql } from 'drizzle-orm'

// Conditions of partial indexes, spelled the same in table and query, as Postgres compares them.

/** Unique over the dedup keys of the incidents that take alerts. */
export const dedupKeyIndex = 'incidents_dedup_key'
export const acceptsAlertsCondition = sql.raw(
  `dedup_key is not null and status in ('open', 'in_progress', 'on_hold')`,
)

export const isMajorCondition = sql.raw(`major_state <> 'none'`)

/** The incidents that may be closed by themselves. */
export const autoClosableCondition = sql.raw(
  `status = 'resolved' and major_state is distinct from 'accepted'`,
)
export const resolvedSince = sql.raw(`(state->>'resolvedAt')`)

/** The values of a field from the most urgent on, and which one states from before the field have. */
interface UrgencyRank {
  field: string
  values: readonly string[]
  fallback: string
}

const byPriority: UrgencyRank = { field: 'priority', values: priorities, fallback: 'P3' satisfies Priority }
const bySeverity: UrgencyRank = { field: 'severity', values: severities, fallback: 'low' satisfies Severity }
/** What incidents can be sorted by urgency by. */
export const urgencyRanks = { priority: byPriority, severity: bySeverity }

const findRank = ({ values }: UrgencyRank, value: string) => values.indexOf(value) + 1

/** Rank and creation in one text, so that a list pages by one column: of equals, the one that waits longest is first. */
export function urgency(of: UrgencyRank) {
  const ranks = of.values.map((value) => `when '${value}' then '${findRank(of, value)} '`)
  return sql.raw(
    `case state->>'${of.field}' ${ranks.join(' ')} else '${findRank(of, of.fallback)} ' end || (state->>'createdAt')`,
  )
}

/** Between which texts those of these values lie: the first one is among them, the other is not. */
export function urgencyRange(of: UrgencyRank, values: readonly string[]): [string, string] {
  const ranks = values.map((value) => findRank(of, value))
  return [String(Math.min(...ranks)), String(Math.max(...ranks) + 1)]
}
