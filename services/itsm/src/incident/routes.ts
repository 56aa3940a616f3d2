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
      description: `All given filters must hold. Newest first unless \`sort\` says otherwise. ${urgencySorts} ${shortPages}`,
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
        'Only `title` is needed; impact and urgency, which follow from the severity unless given, give the priority. Emits `incident.created`; with an `assigneeId` ' +
        'also `incident.assigned`, and the incident is in progress; with a `parentId` also `incident.updated` of the ' +
        'parent, which counts its children. While an incident with the same `dedupKey` is open, ' +
        'none is opened: the answer is 200 with that one, unchanged but for `alertCount` and `lastAlertAt`, and ' +
        '`incident.updated` is emitted.',
      body: NewIncident,
      errors: ['version_conflict'],
      // The alert that opens an incident is its first one.
      wasThere: ({ alertCount = 0 }) => alertCount > 1,
      handler: ({ body, meta }) => openIncident(ctx, incidents, body, meta),
    }),

    route.get({
      summary: 'Get an incident',
      description: 'By its id, or by its number such as `INC-12`.',
      query: AsOfQuery,
      handler: async ({ params, query, meta }) =>
        incidents.asOf(await incidents.findId(params.id, meta.tenant), meta.tenant, query.asOf),
    }),

    route.update({
      summary: 'Update an incident',
      description:
        'Changes the given fields. Each change counts as the action it amounts to and emits that event: a raised ' +
        'severity or another team `incident.escalated`, an assignee `incident.assigned`, a status ' +
        '`incident.resolved`, `incident.closed` or `incident.reopened`; a comment with a `holdReason` ' +
        '`incident.comment_added`; everything else together one `incident.updated`. A `parentId` also emits ' +
        '`incident.updated` of the parents it leaves and joins. What changes nothing emits nothing. A `holdReason` ' +
        'that waits for its problem or change is refused once that has ended. ' +
        '`allowedActions` lists the actions the status allows the caller.',
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
