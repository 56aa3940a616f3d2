import { EscalateIncident, type Incident, ReopenIncident, ResolveIncident } from '@opsplane/contracts'
import type { RequestMeta, Route } from '@opsplane/http'
import type { IncidentStore } from './incident-store.js'
import { route } from './routes.js'
import type { IncidentStep } from './steps.js'

/** Routes of the actions that have a dedicated path. All request bodies are optional. */
export function incidentActionRoutes(incidents: IncidentStore): Route[] {
  const execute = async (reference: string, step: IncidentStep, meta: RequestMeta): Promise<Incident> => {
    const id = await incidents.findId(reference, meta.tenant)
    return incidents.handle(id, { ...step, userId: meta.principal.userId, now: meta.now }, meta)
  }
  return [
    route.action('resolve', {
      errors: ['invalid_state_transition'],
      summary: 'Resolve an incident',
      description:
        'Allowed for incidents that are open, in progress or on hold; requires a code and notes if the settings ' +
        'require them. Also resolves the child incidents. Emits `incident.resolved`.',
      body: ResolveIncident,
      handler: async ({ params, body, meta }) => {
        const { resolutionRequired } = await incidents.getSettings(meta.tenant)
        return execute(params.id, { kind: 'resolve', ...body, resolutionRequired }, meta)
      },
    }),
    route.action('escalate', {
      summary: 'Escalate an incident',
      description:
        'Raises the severity, reassigns the incident to another team (functional escalation), adds a superior as a ' +
        'watcher (hierarchical escalation), or several of these; if none is specified, the severity rises by one ' +
        'level. A higher severity raises the priority, unless the priority was overridden. Lowering the severity is ' +
        'refused: use PATCH. Emits `incident.escalated`.',
      errors: ['invalid_state_transition', 'conflict'],
      body: EscalateIncident,
      handler: async ({ params, body, meta }) => {
        await incidents.people.check(meta.tenant, { escalateTo: body.escalateTo })
        const { priorityMatrix } = await incidents.getSettings(meta.tenant)
        return execute(params.id, { kind: 'escalate', ...body, priorityMatrix }, meta)
      },
    }),
    route.action('close', {
      errors: ['invalid_state_transition'],
      summary: 'Close a resolved incident',
      description:
        'Closing is final: a closed incident cannot be changed. An accepted major incident requires a ' +
        '`postIncidentReview`. Emits `incident.closed`.',
      handler: ({ params, meta }) => execute(params.id, { kind: 'close' }, meta),
    }),
    route.action('reopen', {
      summary: 'Reopen a resolved incident',
      description:
        'Returns the incident to in progress and removes the resolution; also reopens child incidents that were ' +
        'resolved with it. Refused while another incident with the same dedup key is open. Emits `incident.reopened`.',
      errors: ['invalid_state_transition', 'conflict'],
      body: ReopenIncident,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'reopen', ...body }, meta),
    }),
  ]
}
