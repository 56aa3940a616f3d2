import type { Incident } from '@opsplane/contracts'
import type { RequestMeta, Route } from '@opsplane/http'
import type { IncidentStore } from './incident-store.js'
import { route } from './routes.js'

/** Routes with which a user starts or stops watching an incident. For an API key, its owner is the watcher. */
export function incidentWatchRoutes(incidents: IncidentStore): Route[] {
  const watch = async (reference: string, watching: boolean, meta: RequestMeta): Promise<Incident> => {
    const id = await incidents.findId(reference, meta.tenant)
    const { userId } = meta.principal
    return incidents.handle(id, { kind: 'watch', userId, watching, now: meta.now }, meta)
  }
  return [
    route.action('watch', {
      errors: ['conflict', 'invalid_state_transition'],
      summary: 'Watch an incident',
      description:
        'Adds the calling user to `watcherIds`, which contains at most 100 users. Emits `incident.updated`, unless ' +
        'the user already watches the incident.',
      handler: ({ params, meta }) => watch(params.id, true, meta),
    }),
    route.action('unwatch', {
      errors: ['conflict', 'invalid_state_transition'],
      summary: 'Stop watching an incident',
      description:
        'Removes the calling user from `watcherIds`. Emits `incident.updated` if the user was watching the incident.',
      handler: ({ params, meta }) => watch(params.id, false, meta),
    }),
  ]
}
