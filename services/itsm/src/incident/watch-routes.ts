import { type ErrorCode, Incident } from '@opsplane/contracts'
import { defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import type { IncidentStore } from './incident-store.js'
import { tag } from './routes.js'

const errors: ErrorCode[] = ['not_found', 'conflict', 'invalid_state_transition', 'version_conflict']
const contract = {
  method: 'post',
  tag,
  scope: 'itsm:write',
  response: Incident,
  errors,
} as const

/** Following an incident oneself. With an API key, the person the key belongs to follows. */
export function incidentWatchRoutes(incidents: IncidentStore): Route[] {
  const watch = async (reference: string, watching: boolean, meta: RequestMeta): Promise<Incident> => {
    const id = await incidents.findId(reference, meta.tenant)
    const { userId } = meta.principal
    return incidents.handle(id, { kind: 'watch', userId, watching, now: meta.now }, meta)
  }
  return [
    defineRoute({
      ...contract,
      operationId: 'watchIncident',
      path: '/itsm/incidents/:id/watch',
      summary: 'Watch an incident',
      description:
        'Adds the person asking to `watcherIds`, of at most 100. Emits `incident.updated`, unless they watch it already.',
      handler: ({ params, meta }) => watch(params.id, true, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'unwatchIncident',
      path: '/itsm/incidents/:id/unwatch',
      summary: 'Stop watching an incident',
      description:
        'Removes the person asking from `watcherIds`. Emits `incident.updated`, if they watched it.',
      handler: ({ params, meta }) => watch(params.id, false, meta),
    }),
  ]
}
