import { AuditEvent, AuditFilters, notFound } from '@opsplane/contracts'
import type { BackendContext } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import { keysetPage } from '@opsplane/postgres'
import { auditLog as table } from '../schema.js'
import { auditConditions, auditEventById, presented } from './queries.js'

const tag = 'Audit log'

/** The audit log of the current workspace and environment: every event, as it was published. */
export function auditRoutes({ database: { db }, cursors }: BackendContext): Route[] {
  return [
    defineList({
      operationId: 'listAuditEvents',
      path: '/audit',
      summary: 'Query the audit log',
      description:
        'All given filters must hold. Newest first unless `sort` says otherwise. An event appears shortly after ' +
        'its action; `type` takes a pattern such as `token.*`.',
      tag,
      scope: 'audit:read',
      query: AuditFilters,
      response: AuditEvent,
      handler: ({ query: { limit, after, sort, ...filters }, binding, meta }) =>
        keysetPage(db, {
          table,
          tenant: meta.tenant,
          where: auditConditions(filters),
          sort: { column: table.createdAt, direction: sort.direction },
          ...{ limit, after, binding, cursors },
          columns: { seq: table.seq, hash: table.hash },
          present: presented,
        }),
    }),

    defineRoute({
      operationId: 'getAuditEvent',
      method: 'get',
      path: '/audit/:eventId',
      summary: 'Get an event of the audit log',
      tag,
      scope: 'audit:read',
      response: AuditEvent,
      errors: ['not_found'],
      handler: async ({ params, meta }) => {
        const event = await auditEventById(db, meta.tenant, params.eventId)
        if (event === null) throw notFound()
        return event
      },
    }),
  ]
}
