import { type Decider, type IncidentState, notFound } from '@opsplane/contracts'

export interface ReportBreach {
  kind: 'breach'
  extras: Record<string, unknown>
}

/**
 * A breach reported in the incident's name: a fact of its own, so that the sweeper never races with people for the
 * incident's next version. It says what the incident was like and changes nothing of it. See ADR 024.
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
