import { AsOfQuery, IncidentSla, type Instant, type SlaTimer } from '@opsplane/contracts'
import { defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import type { IncidentStore } from '../../incident/incident-store.js'
import { readTimersOfEntity } from '../entity/entity-timers.js'
import type { Clocks } from '../timer/clocks.js'
import { elapsedMs, intervals } from '../timer/ledger.js'
import type { PinnedPolicy } from '../timer/timer.js'

/** Routes that explain the state of SLA timers. */
export function explainRoutes(
  { database }: ServiceContext,
  incidents: IncidentStore,
  { pinnedPolicies }: Clocks,
): Route[] {
  return [
    defineRoute({
      operationId: 'getIncidentSla',
      method: 'get',
      path: '/itsm/incidents/:id/sla',
      summary: 'Explain the SLA timers of an incident',
      description:
        'Returns every timer with the intervals it counted: open hours, closed hours, and pauses with the event that ' +
        'caused them. The counted intervals add up exactly to the elapsed time. With `asOf`, returns the timers that ' +
        'existed at that instant, up to that instant; an instant in the future is treated as now.',
      tag: 'Incidents',
      scope: 'itsm:read',
      query: AsOfQuery,
      response: IncidentSla,
      handler: async ({ params, query, meta: { tenant, now } }) => {
        const { past, at } = resolveInstant(query.asOf, now)
        const { id } = await incidents.asOf(await incidents.findId(params.id, tenant), tenant, past)
        const timers = await readTimersOfEntity(database.sql, tenant, id, past)
        const terms = await pinnedPolicies.load(database.sql, timers)
        return { asOf: at, timers: timers.map((timer) => explainTimer(timer, terms(timer), at)) }
      },
    }),
  ]
}

/** Returns the instant up to which timers are explained, and whether it is in the past. The future is not explained. */
export function resolveInstant(
  asOf: Instant | undefined,
  now: Instant,
): { past: Instant | undefined; at: Instant } {
  const past = asOf !== undefined && asOf < now ? asOf : undefined
  return { past, at: past ?? now }
}

/** Returns a timer with its counted intervals up to an instant. */
export function explainTimer({ ledger, ...timer }: SlaTimer, { calendar }: PinnedPolicy, at: Instant) {
  const until = Date.parse(at)
  const elapsed = elapsedMs(ledger, calendar, until)
  return {
    ...timer,
    elapsedMs: elapsed,
    remainingMs: timer.goalMs - elapsed,
    intervals: intervals(ledger, calendar, until),
  }
}
