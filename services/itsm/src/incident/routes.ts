import {
  AsOfListQuery,
  AsOfQuery,
  Incident,
  IncidentPatch,
  NewIncident,
  shortPages,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { resolveNumbers } from '../lists/number-references.js'
import { incidents as table } from '../schema/incident.js'
import { newComment } from './comment/comment.js'
import type { IncidentStore } from './incident-store.js'
import {
  incidentFilters,
  incidentReferences,
  incidentSorts,
  resolveMe,
  urgencySorts,
} from './lists/list-filters.js'
import { incidentSelection, sortColumns } from './lists/queries.js'
import { openIncident } from './open-incident.js'
import { patchIncident } from './parent-child/linking.js'

export const tag = 'Incidents'

export const route = defineResource({
  name: 'Incident',
  path: '/itsm/incidents',
  tag,
  read: 'itsm:read',
  write: 'itsm:write',
  response: Incident,
})

/** Routes that read, open and change incidents. `:id` is an id or a number such as `INC-12`. */
export function incidentRoutes(ctx: ServiceContext, incidents: IncidentStore): Route[] {
  return [
    route.list({
      summary: 'List incidents',
      description:
        'Returns incidents that match all given filters. Newest first unless `sort` specifies otherwise. ' +
        `${urgencySorts} ${shortPages}`,
      query: incidentFilters.extend(AsOfListQuery.shape),
      sorts: incidentSorts,
      handler: pageReader(ctx, {
        table,
        columns: sortColumns,
        present: incidents.present,
        select: async ({ query, meta }) =>
          incidentSelection(
            await resolveNumbers(ctx.database.db, meta.tenant, resolveMe(meta, query), ...incidentReferences),
            query.sort.field,
          ),
      }),
    }),

    route.create({
      summary: 'Create an incident',
      description:
        'Requires only `title`. Impact and urgency determine the priority; if omitted, they are derived from the ' +
        'severity. Emits `incident.created`; with an `assigneeId` also `incident.assigned`, and the incident is in ' +
        'progress; with a `parentId` also `incident.updated` for the parent, which counts its children. While an ' +
        'incident with the same `dedupKey` is open, no new incident is created: the response is 200 with the open ' +
        'incident, in which only `alertCount` and `lastAlertAt` change, and `incident.updated` is emitted.',
      body: NewIncident,
      errors: ['version_conflict'],
      // The alert that opens an incident is its first one.
      wasThere: ({ alertCount = 0 }) => alertCount > 1,
      handler: ({ body, meta }) => openIncident(ctx, incidents, body, meta),
    }),

    route.get({
      summary: 'Get an incident',
      description: 'Accepts the id of the incident or its number, such as `INC-12`.',
      query: AsOfQuery,
      handler: async ({ params, query, meta }) =>
        incidents.asOf(await incidents.findId(params.id, meta.tenant), meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Update an incident',
      description:
        'Changes the given fields. Each change is treated as the corresponding action and emits the event of that ' +
        'action: a raised severity or another team emits `incident.escalated`, an assignee `incident.assigned`, a ' +
        'status `incident.resolved`, `incident.closed` or `incident.reopened`; a comment with a `holdReason` emits ' +
        '`incident.comment_added`; all other changes together emit one `incident.updated`. A `parentId` also emits ' +
        '`incident.updated` for the former and the new parent. An update without changes emits no event. A ' +
        '`holdReason` that waits for the problem or change of the incident is refused once that problem or change ' +
        'has ended. `allowedActions` lists the actions that the status allows the caller.',
      body: IncidentPatch,
      errors: ['invalid_state_transition', 'conflict'],
      handler: async ({ params, body, meta }) => {
        const id = await incidents.findId(params.id, meta.tenant)
        const settings = await incidents.getSettings(meta.tenant)
        const comment = body.comment === undefined ? undefined : newComment(id, body.comment, 'public', meta)
        const by = { by: meta.actor, userId: meta.principal.userId }
        const command = { ...by, now: meta.now, settings, patch: body, comment }
        return patchIncident(ctx, incidents, id, { kind: 'patch', ...command }, meta)
      },
    }),
  ]
}
