import type { SlaCalendarState, SlaPolicyState, TenantScope } from '@opsplane/contracts'
import { type StatementRunner, type StoredTimer, toStoredTimer } from './rows.js'

/** The current revision of a policy and its calendar. Open clocks pinned to any other revision are outdated. */
export interface PresentPolicy {
  tenant: TenantScope
  policy: SlaPolicyState
  calendar: SlaCalendarState | null
}

const open = `workspace_id = $1 and environment = $2 and policy_id = $3 and clock_state in ('running', 'paused')`
const outdated = `(state->>'policyRevision', coalesce(state->>'calendarId', ''),
  coalesce(state->>'calendarRevision', '')) <> ($4, $5, $6)`

const parameters = ({ tenant, policy, calendar }: PresentPolicy) => [
  ...[tenant.workspaceId, tenant.environment, policy.id],
  ...[String(policy.revision), calendar?.id ?? '', String(calendar?.revision ?? '')],
]

/** Returns the number of open clocks of the policy, and how many of them are outdated. */
export async function countClocks(
  sql: StatementRunner,
  present: PresentPolicy,
): Promise<{ open: number; outdated: number }> {
  const [row] = await sql.unsafe<{ open: number; outdated: number }[]>(
    `select count(*)::int as open, count(*) filter (where ${outdated})::int as outdated
     from sla_timers where ${open}`,
    parameters(present),
    { prepare: true },
  )
  return row ?? { open: 0, outdated: 0 }
}

export interface OutdatedBatch {
  /** Id of the last clock of the previous batch. */
  after: string
  limit: number
  /** Whether to lock the clocks until the transaction ends. Clocks locked by other transactions are skipped. */
  locked: boolean
}

/** Returns outdated clocks, ordered by id. */
export async function outdatedTimers(
  sql: StatementRunner,
  present: PresentPolicy,
  { after, limit, locked }: OutdatedBatch,
): Promise<StoredTimer[]> {
  const rows = await sql.unsafe<Parameters<typeof toStoredTimer>[0][]>(
    `select workspace_id, environment, version, state from sla_timers
     where ${open} and ${outdated} and id > $7 order by id limit $8::int ${locked ? 'for update skip locked' : ''}`,
    [...parameters(present), after, limit],
    { prepare: true },
  )
  return rows.map(toStoredTimer)
}
