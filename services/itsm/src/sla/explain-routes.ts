import { IncidentSla, type Instant, type SlaTimer } from '@opsplane/contracts'
import type { BackendContext } from '@opsplane/eventstore'
import { defineRoute, type Route } from '@opsplane/http'
import type { IncidentStore } from '../incident/incident-store.js'
import type { Clocks } from './clocks.js'
import { elapsedMs, intervals } from './ledger.js'
import { timersOfEntity } from './queries.js'
import type { Terms } from './timer.js'

/** Why a clock says what it says. */
export function explainRoutes(
  { database }: BackendContext,
  incidents: IncidentStore,
  { termsOf }: Clocks,
): Route[] {
  return [
    defineRoute({
      operationId: 'getIncidentSla',
      method: 'get',
      path: '/itsm/incidents/:id/sla',
      summary: 'Explain the SLA clocks of an incident',
      description:
        'Every clock with what it counted when: open hours, closed hours, pauses with the event that led to them. ' +
        'The counted times add up to the elapsed time exactly.',
      tag: 'Incidents',
      scope: 'itsm:read',
      response: IncidentSla,
      errors: ['not_found'],
      handler: async ({ params, meta }) => {
        const { id } = await incidents.get(await incidents.idOf(params.id, meta.tenant), meta.tenant)
        const timers = await timersOfEntity(database.db, meta.tenant, id)
        const terms = await termsOf.load(database.sql, timers)
        return { asOf: meta.now, timers: timers.map((timer) => explained(timer, terms(timer), meta.now)) }
      },
    }),
  ]
}

/** A clock as it is at an instant. */
export function explained({ ledger, ...timer }: SlaTimer, { calendar }: Terms, at: Instant) {
  const until = Date.parse(at)
  const elapsed = elapsedMs(ledger, calendar, until)
  return {
    ...timer,
    elapsedMs: elapsed,
    remainingMs: timer.goalMs - elapsed,
    intervals: intervals(ledger, calendar, until),
  }
}
