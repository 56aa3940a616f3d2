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
    summary: 'Propose to treat an incident as a major one',
    description: 'Unless that is proposed or accepted already. Emits `incident.major_changed`.',
  },
  accept: {
    operationId: 'acceptMajorIncident',
    scope: 'itsm:approve',
    summary: 'Accept an incident as a major one',
    description:
      'By a person other than its proposer. From then on it is not closed automatically, and closing it needs a ' +
      '`postIncidentReview`. Emits `incident.major_changed`.',
  },
  reject: {
    operationId: 'rejectMajorIncident',
    scope: 'itsm:approve',
    summary: 'Reject a proposed major incident',
    description: 'It can be proposed again. Emits `incident.major_changed`.',
  },
  demote: {
    operationId: 'demoteMajorIncident',
    scope: 'itsm:approve',
    summary: 'Demote a major incident',
    description: 'An accepted one is an ordinary incident again. Emits `incident.major_changed`.',
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
