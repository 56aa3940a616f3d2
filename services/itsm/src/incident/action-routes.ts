import { EscalateIncident, Incident, ReopenIncident, ResolveIncident } from '@opsplane/contracts'
import { defineRoute, type RequestMeta, type Route } from '@opsplane/http'
import { transitionErrors } from '../transition-errors.js'
import type { IncidentStore } from './incident-store.js'
import { tag } from './routes.js'
import type { IncidentStep } from './steps.js'

const contract = {
  method: 'post',
  tag,
  scope: 'itsm:write',
  response: Incident,
  errors: transitionErrors,
} as const

/** The actions with a route of their own. All bodies may be left out. */
export function incidentActionRoutes(incidents: IncidentStore): Route[] {
  const execute = async (reference: string, step: IncidentStep, meta: RequestMeta): Promise<Incident> => {
    const id = await incidents.findId(reference, meta.tenant)
    return incidents.handle(id, { ...step, userId: meta.principal.userId, now: meta.now }, meta)
  }
  return [
    defineRoute({
      ...contract,
      operationId: 'resolveIncident',
      path: '/itsm/incidents/:id/resolve',
      summary: 'Resolve an incident',
      description:
        'From open, in progress or on hold; with code and notes where the settings ask for them. Its children are ' +
        'resolved with it. Emits `incident.resolved`.',
      body: ResolveIncident,
      handler: async ({ params, body, meta }) => {
        const { resolutionRequired } = await incidents.getSettings(meta.tenant)
        return execute(params.id, { kind: 'resolve', ...body, resolutionRequired }, meta)
      },
    }),
    defineRoute({
      ...contract,
      operationId: 'escalateIncident',
      path: '/itsm/incidents/:id/escalate',
      summary: 'Escalate an incident',
      description:
        'Raises the severity, reassigns the incident to another team (functional escalation), adds a person higher up as ' +
        'a watcher (hierarchical), or several of these; with none given the severity goes up one step. A higher severity raises ' +
        'the priority, unless that was overridden. Lowering the severity is refused: use PATCH. Emits `incident.escalated`.',
      errors: [...transitionErrors, 'conflict'],
      body: EscalateIncident,
      handler: async ({ params, body, meta }) => {
        await incidents.people.check(meta.tenant, { escalateTo: body.escalateTo })
        const { priorityMatrix } = await incidents.getSettings(meta.tenant)
        return execute(params.id, { kind: 'escalate', ...body, priorityMatrix }, meta)
      },
    }),
    defineRoute({
      ...contract,
      operationId: 'closeIncident',
      path: '/itsm/incidents/:id/close',
      summary: 'Close a resolved incident',
      description:
        'Final: a closed incident cannot be changed. An accepted major incident needs a `postIncidentReview`. ' +
        'Emits `incident.closed`.',
      handler: ({ params, meta }) => execute(params.id, { kind: 'close' }, meta),
    }),
    defineRoute({
      ...contract,
      operationId: 'reopenIncident',
      path: '/itsm/incidents/:id/reopen',
      summary: 'Reopen a resolved incident',
      description:
        'Goes back in progress and drops the resolution; children that were resolved with it are reopened too. ' +
        'Refused while another incident of its dedup key is open. Emits `incident.reopened`.',
      errors: [...transitionErrors, 'conflict'],
      body: ReopenIncident,
      handler: ({ params, body, meta }) => execute(params.id, { kind: 'reopen', ...body }, meta),
    }),
  ]
}
