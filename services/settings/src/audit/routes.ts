import { ApiError, AuditEvent, AuditExportEnd, AuditFilters, notFound } from '@opsplane/contracts'
import { defineList, defineRoute, defineStream, type Route } from '@opsplane/http'
import { keysetPage } from '@opsplane/postgres'
import { createConcurrencyLimiter } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { auditLog as table } from '../schema.js'
import { readExportBatches, recordExport } from './export.js'
import { buildAuditConditions, findAuditEvent, toAuditEvent } from './queries.js'

const tag = 'Audit log'
/** Limits clients that export a log repeatedly, because this service also verifies every token. */
const exportsAtOnce = 2

/** The audit log of the current workspace and environment, which contains every event. */
export function auditRoutes({ database: { db }, store, cursors }: ServiceContext): Route[] {
  const beginExport = recordExport(db, store)
  const limiter = createConcurrencyLimiter({
    perKey: exportsAtOnce,
    refusal: () =>
      new ApiError('service_unavailable', 'The audit log is being exported already. Try again later.'),
  })
  return [
    defineList({
      operationId: 'listAuditEvents',
      path: '/audit',
      summary: 'Query the audit log',
      description:
        'Returns events that match all filters, newest first unless `sort` specifies otherwise. An event appears ' +
        'shortly after its action; `type` accepts a pattern such as `token.*`. `after` equals the `data` of a ' +
        'delivery of the event: the resource with its `version`, and other fields of the event, such as `comment`; ' +
        '`null` once the resource is deleted.',
      tag,
      scope: 'audit:read',
      query: AuditFilters,
      response: AuditEvent,
      handler: ({ query: { limit, after, sort, ...filters }, binding, meta }) =>
        keysetPage(db, {
          table,
          tenant: meta.tenant,
          where: buildAuditConditions(filters),
          sort: { column: table.createdAt, direction: sort.direction },
          ...{ limit, after, binding, cursors },
          columns: { seq: table.seq, hash: table.hash },
          present: toAuditEvent,
        }),
    }),

    defineStream({
      operationId: 'exportAudit',
      path: '/audit/export',
      summary: 'Export the audit log',
      description:
        'Returns lines of JSON, one event per line, in the order of the chain, up to the end of the chain when the ' +
        'export started. The last line is `{"complete":true,"count":n}`; without it the export is incomplete. Emits ' +
        '`audit.exported`. At most two exports run per workspace; further ones return 503.',
      tag,
      scope: 'audit:read',
      query: AuditFilters,
      line: z.union([AuditEvent, AuditExportEnd]),
      handler: async ({ query, meta }) => {
        const { tenant, now } = meta
        const fileName = `audit-${tenant.environment}-${now.slice(0, 10)}.ndjson`
        const batches = limiter.stream(tenant.workspaceId, async function* () {
          const { lastSeq } = await beginExport(query, meta)
          yield* readExportBatches(db, tenant, query, lastSeq)
        })
        return { fileName, batches }
      },
    }),

    defineRoute({
      operationId: 'getAuditEvent',
      method: 'get',
      path: '/audit/:eventId',
      summary: 'Get an event of the audit log',
      description:
        'Includes the position and hash of the event in the chain of the workspace, and its actor and source.',
      tag,
      scope: 'audit:read',
      response: AuditEvent,
      handler: async ({ params, meta }) => {
        const event = await findAuditEvent(db, meta.tenant, params.eventId)
        if (event === null) throw notFound()
        return event
      },
    }),
  ]
}
