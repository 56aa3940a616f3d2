import {
  ApiError,
  Download,
  DownloadQuery,
  Export,
  ExportFormat,
  ExportStatus,
  NewExport,
  ReportExport,
} from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineResource, defineRoute, defineStream, type Route, readdress } from '@opsplane/http'
import type { CursorCodec } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import { eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { InvalidQuery } from '../query/invalid-query.js'
import type { ObjectStorage } from '../storage/object-storage.js'
import { openDownload } from './download.js'
import type { ExportAggregate, ExportService } from './exports.js'
import type { JobStore } from './job-store.js'
import { linkRoutes } from './link-routes.js'
import type { Links } from './links.js'
import { exports as table } from './tables.js'

const tag = 'Exports'
const path = '/analytics/exports'

const route = defineResource({
  name: 'Export',
  path: path,
  tag,
  read: 'analytics:export',
  write: 'analytics:export',
  response: Export,
})

export interface ExportRoutesOptions {
  cursors: CursorCodec
  aggregate: ExportAggregate
  exports: ExportService
  links: Links
  store: JobStore
  storage: ObjectStorage
}

/** For a report named in the path, the parameters are at the root of the body: adjusts the error's pointers. */
function refuseReport(error: unknown): never {
  throw readdress(
    error,
    ({ path }) =>
      path === '/source/report'
        ? { in: 'path', path: '/id' }
        : { path: path.replace(/^\/source(?=\/parameters\/)/, '') },
    error instanceof InvalidQuery ? { message: `The report cannot be exported: ${error.reason}.` } : {},
  )
}

/** Routes for exports and their files. */
export function exportRoutes(
  { database: { db }, cursors }: Pick<ServiceContext, 'database' | 'cursors'>,
  options: ExportRoutesOptions,
): Route[] {
  const { aggregate, exports } = options
  return [
    route.list({
      summary: 'List exports',
      description: 'Returns exports with their progress. Multiple filters are combined with AND.',
      query: z.object({ status: ExportStatus.optional(), format: ExportFormat.optional() }),
      handler: async ({ query: { limit, after, sort, status, format }, binding, meta: { tenant } }) => {
        const where = [
          status && eq(table.status, status),
          format && sql`${table.state}->>'format' = ${format}`,
        ]
        const page = await listPage(db, {
          ...{ table, tenant, where, limit, after, binding, cursors, asOf: undefined },
          sort: { column: table.createdAt, direction: sort.direction },
          present: aggregate.present,
        })
        return { ...page, items: await exports.shownAll(page.items) }
      },
    }),

    route.create({
      summary: 'Export rows to a file',
      description:
        'The file is written in the background with the rights and row rules that the owner has at that time; ' +
        'relative ranges are resolved when the export is created. Emits `export.created`, then `export.completed` or ' +
        '`export.failed`.',
      body: NewExport,
      errors: ['not_found', 'quota_exceeded'],
      handler: ({ body, meta }) => exports.create(body, meta),
    }),

    defineRoute({
      operationId: 'exportReport',
      method: 'post',
      path: '/analytics/reports/:id/export',
      summary: 'Export the result of a report',
      description: 'Equivalent to `POST /analytics/exports` with the id of the report as the source.',
      tag,
      scope: 'analytics:export',
      body: ReportExport,
      response: Export,
      status: 201,
      createdBelow: path,
      errors: ['quota_exceeded'],
      handler: ({ params, body: { parameters, ...choices }, meta }) =>
        exports.create({ ...choices, source: { report: params.id, parameters } }, meta).catch(refuseReport),
    }),

    route.get({
      summary: 'Get an export',
      description:
        'Returns the export with its progress. `status` shows when the file is ready, how long it is kept, and the ' +
        'reason if there is none.',
      changesUnversioned: true,
      handler: ({ params, meta }) => exports.get(params.id, meta.tenant),
    }),

    route.action('cancel', {
      summary: 'Cancel an unfinished export',
      description:
        'Only the owner of the export and callers with `analytics:write` can cancel it. Emits `export.cancelled`.',
      errors: ['forbidden', 'invalid_state_transition'],
      handler: ({ params, meta }) => exports.cancel(params.id, meta),
    }),

    route.delete({
      summary: 'Delete an export and its file',
      description:
        'The download URLs of the export stop working. Only the owner of the export and callers with ' +
        '`analytics:write` can delete it. Emits `export.deleted`.',
      errors: ['forbidden'],
      handler: ({ params, meta }) => exports.remove(params.id, meta),
    }),

    defineRoute({
      operationId: 'getDownloadUrl',
      method: 'get',
      path: `${path}/:id/download`,
      summary: 'Create a download URL',
      description:
        'Returns a new URL on each call, only for the owner of the export, with whose rights the rows were read. The ' +
        'URL works without a login until it expires, is revoked, or the file no longer exists.',
      tag,
      scope: 'analytics:export',
      query: DownloadQuery,
      response: Download,
      errors: ['forbidden', 'conflict'],
      handler: async ({ params, query, meta: { tenant, principal, now } }) => {
        const state = await aggregate.get(params.id, tenant)
        if (state.ownerId !== principal.userId)
          throw new ApiError(
            'forbidden',
            'The rows were read with the rights of another user. Create an export of your own.',
          )
        const { userId } = principal
        return options.links.create(state, { tenant, userId, seconds: query.expiresInSeconds, now })
      },
    }),

    ...linkRoutes(options),

    defineStream({
      operationId: 'download',
      path: '/origin/downloads/:token',
      summary: 'Download a file',
      description: 'Supports range requests; the ETag is the checksum of the file.',
      tag,
      scope: 'public',
      line: z.never(),
      mediaTypes: ['application/octet-stream'],
      errors: ['not_found', 'range_not_satisfiable'],
      handler: async ({ params, meta }) =>
        openDownload(await options.links.resolve(params.token, meta.now), options, {
          header: meta.header,
          signal: meta.signal(),
        }),
    }),
  ]
}
