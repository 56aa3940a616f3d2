import {
  AsOfListQuery,
  AsOfQuery,
  Incident,
  IncidentPatch,
  NewIncident,
  newId,
  shortPages,
} from '@opsplane/contracts'
import { type BackendContext, listPage } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import { checkIncidentItem } from '../cmdb/incident-item.js'
import { incidents as table } from '../schema.js'
import type { IncidentStore } from './incident-store.js'
import { incidentFilters } from './list-filters.js'
import { incidentSelection, sortColumns } from './queries.js'

export const tag = 'Incidents'

/** Reading, opening and changing incidents. `:id` is an id or a number such as `INC-12`. */
export function incidentRoutes(ctx: BackendContext, incidents: IncidentStore): Route[] {
  return [
    defineList({
      operationId: 'listIncidents',
      path: '/itsm/incidents',
      summary: 'List incidents',
      description: `All given filters must hold. Newest first unless \`sort\` says otherwise. ${shortPages}`,
      tag,
      scope: 'itsm:read',
      query: incidentFilters.extend(AsOfListQuery.shape),
      sorts: ['-createdAt', 'updatedAt', 'number'],
      response: Incident,
      handler: ({ query: { limit, after, sort, asOf, ...filters }, binding, meta }) =>
        listPage(ctx.database.db, {
          asOf,
          table,
          tenant: meta.tenant,
          ...incidentSelection(filters),
          sort: { column: sortColumns[sort.field], direction: sort.direction },
          limit,
          after,
          binding,
          cursors: ctx.cursors,
          present: incidents.present,
        }),
    }),

    defineRoute({
      operationId: 'createIncident',
      method: 'post',
      path: '/itsm/incidents',
      summary: 'Create an incident',
      description:
        'Only `title` is needed. Emits `incident.created`; with an `assigneeId` also `incident.assigned`, and ' +
        'the incident is in progress.',
      tag,
      scope: 'itsm:write',
      body: NewIncident,
      response: Incident,
      status: 201,
      handler: async ({ body, meta }) => {
        await checkIncidentItem(ctx.database.db, meta.tenant, body.ciId)
        const id = newId('incident')
        const number = await ctx.store.numbers.next(meta.tenant.workspaceId, 'incident')
        const command = { id, number: `INC-${number}`, by: meta.actor, now: meta.now, input: body }
        return incidents.create(id, { kind: 'create', ...command }, meta)
      },
    }),

    defineRoute({
      operationId: 'getIncident',
      method: 'get',
      path: '/itsm/incidents/:id',
      summary: 'Get an incident',
      description: 'By its id, or by its number such as `INC-12`.',
      tag,
      scope: 'itsm:read',
      query: AsOfQuery,
      response: Incident,
      errors: ['not_found'],
      handler: async ({ params, query, meta }) =>
        incidents.asOf(await incidents.idOf(params.id, meta.tenant), meta.tenant, query.asOf),
    }),

    defineRoute({
      operationId: 'updateIncident',
      method: 'patch',
      path: '/itsm/incidents/:id',
      summary: 'Update an incident',
      description:
        'Changes the given fields. Each change counts as the action it amounts to and emits that event: a raised ' +
        'severity or another team `incident.escalated`, an assignee `incident.assigned`, a status ' +
        '`incident.resolved`, `incident.closed` or `incident.reopened`; everything else together one ' +
        '`incident.updated`. What changes nothing emits nothing. `allowedActions` tells which actions the status allows.',
      tag,
      scope: 'itsm:write',
      body: IncidentPatch,
      response: Incident,
      errors: ['not_found', 'invalid_state_transition', 'precondition_failed', 'version_conflict'],
      handler: async ({ params, body, meta }) => {
        const id = await incidents.idOf(params.id, meta.tenant)
        await checkIncidentItem(ctx.database.db, meta.tenant, body.ciId, () =>
          incidents.itemOf(id, meta.tenant),
        )
        return incidents.handle(id, { kind: 'patch', patch: body, now: meta.now }, meta)
      },
    }),
  ]
}
