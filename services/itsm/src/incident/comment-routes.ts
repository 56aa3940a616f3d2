import { CommentVisibility, IncidentComment, NewIncidentComment } from '@opsplane/contracts'
import type { BackendContext, Unit } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import { keysetPage } from '@opsplane/postgres'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { incidentComments as table } from '../schema.js'
import { newComment } from './comment.js'
import type { IncidentStore } from './incident-store.js'
import { tag } from './routes.js'

/** Comments the caller sees, and work notes only agents see. */
export function incidentCommentRoutes(ctx: BackendContext, incidents: IncidentStore): Route[] {
  return [
    defineRoute({
      operationId: 'addIncidentComment',
      method: 'post',
      path: '/itsm/incidents/:id/comments',
      summary: 'Comment on an incident',
      description:
        'Adds a public comment or an internal work note, until the incident is closed. An incident on hold for ' +
        'its caller resumes when the caller comments. Emits `incident.comment_added`.',
      tag,
      scope: 'itsm:write',
      body: NewIncidentComment,
      response: IncidentComment,
      status: 201,
      errors: ['not_found', 'invalid_state_transition', 'version_conflict'],
      // Of the incident, whose version a comment raises.
      ifMatch: true,
      handler: async ({ params, body, meta }) => {
        const incidentId = await incidents.idOf(params.id, meta.tenant)
        const comment = newComment(incidentId, body.body, body.visibility, meta)
        const add = async (unit: Unit) => {
          await unit.handle(incidents, incidentId, { kind: 'comment', comment, now: meta.now })
          return comment
        }
        return ctx.store.transact(meta, add, { turn: incidentId })
      },
    }),

    defineList({
      operationId: 'listIncidentComments',
      path: '/itsm/incidents/:id/comments',
      summary: 'List the comments of an incident',
      tag,
      scope: 'itsm:read',
      query: z.object({ visibility: CommentVisibility.optional() }),
      sorts: ['createdAt'],
      response: IncidentComment,
      errors: ['not_found'],
      handler: async ({ params, query, binding, meta }) => {
        const { id } = await incidents.get(await incidents.idOf(params.id, meta.tenant), meta.tenant)
        return keysetPage(ctx.database.db, {
          table,
          tenant: meta.tenant,
          where: [eq(table.incidentId, id), query.visibility && eq(table.visibility, query.visibility)],
          sort: { column: table.createdAt, direction: query.sort.direction },
          limit: query.limit,
          after: query.after,
          binding,
          cursors: ctx.cursors,
          present: ({ state }) => IncidentComment.parse(state),
        })
      },
    }),
  ]
}
