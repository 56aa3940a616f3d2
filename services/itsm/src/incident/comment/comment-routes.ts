import { IncidentComment, NewIncidentComment } from '@opsplane/contracts'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import { keysetPage } from '@opsplane/postgres'
import type { ServiceContext } from '@opsplane/service'
import { incidentComments as table } from '../../schema/incident.js'
import type { IncidentStore } from '../incident-store.js'
import { tag } from '../routes.js'
import { addComment, newComment } from './comment.js'
import { commentConditions, commentFilters } from './comment-list.js'

/** Routes of comments, which the caller sees, and of work notes, which only agents see. */
export function incidentCommentRoutes(ctx: ServiceContext, incidents: IncidentStore): Route[] {
  return [
    defineRoute({
      operationId: 'addIncidentComment',
      method: 'post',
      path: '/itsm/incidents/:id/comments',
      summary: 'Comment on an incident',
      description:
        'Adds a public comment or an internal work note, until the incident is closed. A comment by the caller of ' +
        'the incident resumes an incident that is on hold for the caller, and reopens a resolved one. Emits ' +
        '`incident.comment_added`, and then `incident.updated` or `incident.reopened`. A public comment by the ' +
        'caller on a closed or canceled incident is added to a new follow-up incident, identified by `incidentId` in ' +
        'the response; before it, `incident.updated` is emitted for the ended incident, and `incident.created`. ' +
        'While the follow-up incident is open, further such comments are added to it.',
      tag,
      scope: 'itsm:write',
      body: NewIncidentComment,
      response: IncidentComment,
      status: 201,
      errors: ['invalid_state_transition'],
      // If-Match is the version of the incident, which a comment increments.
      ifMatch: true,
      handler: async ({ params, body, meta }) => {
        const incidentId = await incidents.findId(params.id, meta.tenant)
        return addComment(ctx, incidents, newComment(incidentId, body.body, body.visibility, meta), meta)
      },
    }),

    defineList({
      operationId: 'listIncidentComments',
      path: '/itsm/incidents/:id/comments',
      summary: 'List the comments of an incident',
      description:
        'Returns comments that match all given filters. Oldest first unless `sort` specifies otherwise.',
      tag,
      scope: 'itsm:read',
      query: commentFilters,
      sorts: ['createdAt'],
      response: IncidentComment,
      handler: async ({ params, query: { limit, after, sort, ...filters }, binding, meta: { tenant } }) => {
        const { id } = await incidents.asOf(await incidents.findId(params.id, tenant), tenant, filters.asOf)
        return keysetPage(ctx.database.db, {
          table,
          tenant,
          where: commentConditions(id, filters),
          sort: { column: table.createdAt, direction: sort.direction },
          limit,
          after,
          binding,
          cursors: ctx.cursors,
          present: ({ state }) => IncidentComment.parse(state),
        })
      },
    }),
  ]
}
