import { type Decider, type IncidentState, notFound } from '@opsplane/contracts'

export interface ReportBreach {
  kind: 'breach'
  extras: Record<string, unknown>
}

/**
 * A breach as an event of the incident, in a separate stream, so that the sweep never races with people for the
 * incident's next version. The event contains the state of the incident and does not change it. See ADR 024.
 */
export const incidentBreach: Decider<IncidentState, ReportBreach> = {
  resourceType: 'incident',
  table: 'incident_sla_breaches',
  decide({ extras }, state) {
    if (state === null) throw notFound()
    return [{ type: 'incident.sla_breached', after: state, extras }]
  },
  expose: (state) => state,
  describe: ({ title, number }) => ({ displayName: title, number }),
}
