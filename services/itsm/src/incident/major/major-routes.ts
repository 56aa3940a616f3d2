import { DecideMajor, type MajorAction, type Permission } from '@opsplane/contracts'
import type { Route } from '@opsplane/http'
import type { IncidentStore } from '../incident-store.js'
import { route } from '../routes.js'

interface MajorRoute {
  operationId: string
  scope: Permission
  summary: string
  description: string
}

const routes: Record<MajorAction, MajorRoute> = {
  propose: {
    operationId: 'proposeMajorIncident',
    scope: 'itsm:write',
    summary: 'Propose an incident as a major incident',
    description: 'Refused if the incident is already proposed or accepted. Emits `incident.major_changed`.',
  },
  accept: {
    operationId: 'acceptMajorIncident',
    scope: 'itsm:approve',
    summary: 'Accept a major incident',
    description:
      'The caller must not be the proposer. From then on, the incident is not closed automatically, and closing it ' +
      'requires a `postIncidentReview`. Emits `incident.major_changed`.',
  },
  reject: {
    operationId: 'rejectMajorIncident',
    scope: 'itsm:approve',
    summary: 'Reject a proposed major incident',
    description: 'The incident can be proposed again. Emits `incident.major_changed`.',
  },
  demote: {
    operationId: 'demoteMajorIncident',
    scope: 'itsm:approve',
    summary: 'Demote a major incident',
    description:
      'An accepted major incident becomes an ordinary incident again. Emits `incident.major_changed`.',
  },
}

/** Routes of the decisions on major incidents. The request body is optional. */
export function majorIncidentRoutes(incidents: IncidentStore): Route[] {
  return (Object.keys(routes) as MajorAction[]).map((action) =>
    route.action(`major/${action}`, {
      ...routes[action],
      body: DecideMajor,
      errors: ['forbidden', 'invalid_state_transition'],
      handler: async ({ params, body, meta }) => {
        const id = await incidents.findId(params.id, meta.tenant)
        const by = { by: meta.actor, userId: meta.principal.userId }
        return incidents.handle(id, { kind: 'major', action, ...by, ...body, now: meta.now }, meta)
      },
    }),
  )
}
