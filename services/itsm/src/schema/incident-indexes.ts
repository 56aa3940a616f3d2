import { type Priority, priorities, type Severity, severities } from '@opsplane/contracts'
import { sql } from 'drizzle-orm'

// Conditions of partial indexes. Table and query must spell them identically, because Postgres compares them.

/** Unique index on the dedup keys of incidents that accept alerts. */
export const dedupKeyIndex = 'incidents_dedup_key'
export const acceptsAlertsCondition = sql.raw(
  `dedup_key is not null and status in ('open', 'in_progress', 'on_hold')`,
)

export const isMajorCondition = sql.raw(`major_state <> 'none'`)

/** Incidents that may be closed automatically. */
export const autoClosableCondition = sql.raw(
  `status = 'resolved' and major_state is distinct from 'accepted'`,
)
export const resolvedSince = sql.raw(`(state->>'resolvedAt')`)

/** The values of a field, the most urgent first, and the value assumed for states from before the field existed. */
interface UrgencyRank {
  field: string
  values: readonly string[]
  fallback: string
}

const byPriority: UrgencyRank = { field: 'priority', values: priorities, fallback: 'P3' satisfies Priority }
const bySeverity: UrgencyRank = { field: 'severity', values: severities, fallback: 'low' satisfies Severity }
/** The urgency sort keys of incidents. */
export const urgencyRanks = { priority: byPriority, severity: bySeverity }

const findRank = ({ values }: UrgencyRank, value: string) => values.indexOf(value) + 1

/**
 * Rank and creation time in one text, so that a list needs one
 * sort column. Within a rank, the longest-waiting comes first.
 */
export function urgency(of: UrgencyRank) {
  const ranks = of.values.map((value) => `when '${value}' then '${findRank(of, value)} '`)
  return sql.raw(
    `case state->>'${of.field}' ${ranks.join(' ')} else '${findRank(of, of.fallback)} ' end || (state->>'createdAt')`,
  )
}

/** Returns the text range of the values: the lower bound is inclusive, the upper bound exclusive. */
export function urgencyRange(of: UrgencyRank, values: readonly string[]): [string, string] {
  const ranks = values.map((value) => findRank(of, value))
  return [String(Math.min(...ranks)), String(Math.max(...ranks) + 1)]
}
