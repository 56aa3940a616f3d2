import { AsOfListQuery, Incident, LinkProblemIncident, Problem, shortPages } from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import type { IncidentStore } from '../incident/incident-store.js'
import {
  incidentFilters,
  incidentReferences,
  incidentSorts,
  resolveMe,
} from '../incident/lists/list-filters.js'
import { incidentSelection, sortColumns } from '../incident/lists/queries.js'
import { resolveNumbers } from '../lists/number-references.js'
import { incidents as table } from '../schema/incident.js'
import type { ProblemLinks } from './links.js'
import type { ProblemStore } from './problem-store.js'
import { tag } from './routes.js'

/** Routes of the incidents that a problem causes. */
export function problemIncidentRoutes(
  ctx: ServiceContext,
  incidents: IncidentStore,
  problems: ProblemStore,
  links: ProblemLinks,
): Route[] {
  return [
    defineList({
      operationId: 'listProblemIncidents',
      path: '/itsm/problems/:id/incidents',
      summary: 'List the incidents linked to a problem',
      description:
        'Filtered and sorted as all incidents are; with `asOf` those linked then, to a problem that was there. ' +
        shortPages,
      tag,
      scope: 'itsm:read',
      query: incidentFilters.omit({ problemId: true }).extend(AsOfListQuery.shape),
      sorts: incidentSorts,
      response: Incident,
      handler: pageReader(ctx, {
        table,
        columns: sortColumns,
        present: incidents.present,
        select: async ({ params, query, meta }) => {
          const { tenant } = meta
          const filters = resolveMe(meta, query)
          const { id: problemId } = await problems.asOf(
            await problems.findId(params.id, tenant),
            tenant,
            query.asOf,
          )
          return {
            ...incidentSelection(
              await resolveNumbers(ctx.database.db, tenant, { ...filters, problemId }, ...incidentReferences),
              query.sort.field,
            ),
          }
        },
      }),
    }),

    defineRoute({
      operationId: 'linkProblemIncident',
      method: 'post',
      path: '/itsm/problems/:id/incidents',
      summary: 'Link an incident to a problem',
      description:
        'Sets `problemId` of an incident that is not closed and has no problem; unlink an incident from its current ' +
        'problem first. Returns the incident. An incident on hold for a problem that has ended resumes or is ' +
        'resolved shortly afterwards. Emits `incident.updated`, unless the incident is already linked to this ' +
        'problem.',
      tag,
      scope: 'itsm:write',
      body: LinkProblemIncident,
      response: Incident,
      errors: ['conflict', 'invalid_state_transition', 'version_conflict'],
      // The path names the problem, which does not change.
      ifMatch: false,
      handler: async ({ params, body, meta }) =>
        links.link(await problems.findId(params.id, meta.tenant), body.incidentId, meta),
    }),

    defineRoute({
      operationId: 'unlinkProblemIncident',
      method: 'delete',
      path: '/itsm/problems/:id/incidents/:incidentId',
      summary: 'Unlink an incident from a problem',
      description: 'Changes nothing else; an incident on hold stays on hold. Emits `incident.updated`.',
      tag,
      scope: 'itsm:write',
      errors: ['invalid_state_transition', 'version_conflict'],
      ifMatch: false,
      handler: async ({ params, meta }) =>
        links.unlink(await problems.findId(params.id, meta.tenant), params.incidentId, meta),
    }),

    defineRoute({
      operationId: 'createIncidentProblem',
      method: 'post',
      path: '/itsm/incidents/:id/problem',
      summary: 'Create a problem from an incident',
      description:
        'Copies the title, description, impact, urgency and, unless it is retired, the configuration item, and links ' +
        'the incident. Emits `problem.created` and `incident.updated`.',
      tag,
      scope: 'itsm:write',
      response: Problem,
      status: 201,
      createdBelow: '/itsm/problems',
      errors: ['invalid_state_transition', 'conflict'],
      // If-Match is the version of the incident, which is linked.
      ifMatch: true,
      handler: ({ params, meta }) => links.raise(params.id, meta),
    }),
  ]
}
