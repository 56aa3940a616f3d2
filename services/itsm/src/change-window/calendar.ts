import {
  ApiError,
  type ChangeCalendar,
  ChangeState,
  ChangeWindowState,
  type Instant,
  type TenantScope,
} from '@opsplane/contracts'
import { translatePostgresError } from '@opsplane/postgres'
import type { StatementRunner } from '../cmdb/impact/impact-graph.js'
import { occurrences } from './occurrences.js'

const maxEntries = 1_000

const dayMs = 86_400_000

/** Parses the requested span. Throws validation_failed if it is empty, invalid or too long. */
export function calendarSpan(
  requestedSpan: { from?: Instant | undefined; to?: Instant | undefined },
  now: Instant,
): { from: Instant; to: Instant } {
  const from = requestedSpan.from ?? now
  const to = requestedSpan.to ?? new Date(Date.parse(from) + 31 * dayMs).toISOString()
  const days = (Date.parse(to) - Date.parse(from)) / dayMs
  // Instants after the year 9999 have a different format.
  if (days > 0 && days <= 92 && !to.startsWith('+')) return { from, to }
  const message = 'must be later than from, by 92 days at most'
  throw new ApiError('validation_failed', `to ${message}.`, {
    details: [{ in: 'query', path: '/to', code: 'no_such_span', message }],
  })
}

/** Returns the changes and windows that overlap a span of time, without drafts and canceled changes. */
export async function readChangeCalendar(
  sql: StatementRunner,
  { workspaceId, environment }: TenantScope,
  { from, to }: { from: Instant; to: Instant },
): Promise<ChangeCalendar> {
  const statement = async (text: string): Promise<{ state: unknown }[]> => {
    try {
      return await sql.unsafe<{ state: unknown }[]>(text, [workspaceId, environment, from, to])
    } catch (error) {
      throw translatePostgresError(error)
    }
  }
  const changes = await statement(
    `select state from changes
      where workspace_id = $1 and environment = $2 and planned_start is not null
        and planned_span(planned_start, planned_end) && planned_span($3, $4) and status not in ('draft', 'canceled')
      order by planned_start, id limit ${maxEntries + 1}`,
  )
  const windows = await statement(
    `select state from change_windows
      where workspace_id = $1 and environment = $2 and status = 'active'
        and planned_span(starts_at, ends_at) && planned_span($3, $4) order by created_at, id limit ${maxEntries}`,
  )
  const times = windows.flatMap(({ state }) => toWindowTimes(ChangeWindowState.parse(state), from, to))
  return {
    from,
    to,
    changes: changes.slice(0, maxEntries).flatMap(({ state }) => toCalendarChange(ChangeState.parse(state))),
    windows: times.sort((left, right) => (left.from < right.from ? -1 : 1)).slice(0, maxEntries),
    truncated: changes.length > maxEntries || times.length > maxEntries,
  }
}

function toWindowTimes(window: ChangeWindowState, from: string, to: string): ChangeCalendar['windows'] {
  const { id, name, kind, ciIds, classes } = window
  const within = { from: Date.parse(from), to: Date.parse(to) }
  return occurrences(window, within).map((span) => ({
    ...{ id, name, kind, ciIds, classes },
    from: new Date(span.from).toISOString(),
    to: new Date(span.to).toISOString(),
  }))
}

function toCalendarChange(change: ChangeState): ChangeCalendar['changes'] {
  const { id, number, title, type, status, risk, assigneeId, assignmentGroup, ciIds } = change
  const { plannedStart, plannedEnd, conflicts } = change
  if (plannedStart === null || plannedEnd === null) return []
  const identity = { id, number, title, type, status, risk, assigneeId, assignmentGroup, ciIds }
  return [{ ...identity, plannedStart, plannedEnd, conflicts: conflicts.length }]
}
