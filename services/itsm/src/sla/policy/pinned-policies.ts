import { SlaCalendarState, type SlaGoalUnit, SlaPolicyState, type SlaTimer } from '@opsplane/contracts'
import { LRUCache } from 'lru-cache'
import { aroundTheClock, type Calendar, createCalendar } from '../../calendar/calendar.js'
import type { StatementRunner } from '../timer/rows.js'
import type { PinnedPolicy } from '../timer/timer.js'
import { revisionId } from './policy.js'

type PinnedRevisions = Pick<SlaTimer, 'policyId' | 'policyRevision' | 'calendarId' | 'calendarRevision'>

/** Cache of policy and calendar revisions. Revisions never change, so cached entries never become stale. */
export interface PinnedPolicies {
  /** Reads revisions that are not cached, with at most one statement each for policies and calendars. */
  load(
    tx: StatementRunner,
    timers: readonly PinnedRevisions[],
  ): Promise<(timer: PinnedRevisions) => PinnedPolicy>
  /** Returns the current revision of a policy with the current revision of its calendar. */
  present(policy: SlaPolicyState, calendar: SlaCalendarState | null): PinnedPolicy
}

const maxCached = 5_000

type Compiled = Readonly<Record<SlaGoalUnit, Calendar>>

/** Calendars compute years on first use, so an unused unit costs nothing. */
const compile = (calendar: SlaCalendarState): Compiled => ({
  minutes: createCalendar(calendar),
  business_days: createCalendar(calendar, 'business_days'),
})

export function createPinnedPolicies(): PinnedPolicies {
  const policies = new LRUCache<string, SlaPolicyState>({ max: maxCached })
  const calendars = new LRUCache<string, Compiled>({ max: maxCached })

  const present: PinnedPolicies['present'] = (policy, calendar) => {
    if (calendar === null) return { policy, calendar: aroundTheClock, calendarRevision: null }
    const key = revisionId(calendar.id, calendar.revision)
    const compiled = calendars.get(key) ?? compile(calendar)
    calendars.set(key, compiled)
    return { policy, calendar: compiled[policy.goalUnit], calendarRevision: calendar.revision }
  }

  const policyKey = ({ policyId, policyRevision }: PinnedRevisions) => revisionId(policyId, policyRevision)
  const calendarKey = ({ calendarId, calendarRevision }: PinnedRevisions) =>
    calendarId === null || calendarRevision === null ? null : revisionId(calendarId, calendarRevision)

  async function read(tx: StatementRunner, table: string, ids: Iterable<string>): Promise<unknown[]> {
    const distinctIds = [...new Set(ids)]
    if (distinctIds.length === 0) return []
    const rows = await tx.unsafe<{ state: unknown }[]>(
      `select state from ${table} where id = any($1::text[])`,
      [distinctIds],
      { prepare: true },
    )
    return rows.map(({ state }) => state)
  }

  return {
    present,
    async load(tx, timers) {
      const unknownPolicies = timers.map(policyKey).filter((key) => !policies.has(key))
      for (const state of await read(tx, 'sla_policy_revisions', unknownPolicies)) {
        const policy = SlaPolicyState.parse(state)
        policies.set(revisionId(policy.id, policy.revision), policy)
      }
      const keys = timers.map(calendarKey).filter((key) => key !== null)
      const unknownCalendars = keys.filter((key) => !calendars.has(key))
      for (const state of await read(tx, 'sla_calendar_revisions', unknownCalendars)) {
        const calendar = SlaCalendarState.parse(state)
        calendars.set(revisionId(calendar.id, calendar.revision), compile(calendar))
      }
      return (timer) => {
        const policy = policies.get(policyKey(timer))
        const key = calendarKey(timer)
        const calendar = key === null ? aroundTheClock : policy && calendars.get(key)?.[policy.goalUnit]
        if (!policy || !calendar) throw new Error(`the revisions of clock of ${policyKey(timer)} are gone`)
        return { policy, calendar, calendarRevision: timer.calendarRevision }
      }
    },
  }
}
