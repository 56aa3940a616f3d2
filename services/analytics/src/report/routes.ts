import { NewReport, newId, QueryAnswer, Report, ReportPatch, RunReport } from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { type Delegations, defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { toCaller } from '../query/caller.js'
import { mapQueryPointer } from '../query/invalid-query.js'
import type { QueryRunner } from '../query/types.js'
import { report } from './domain.js'
import { fillQuery, toReportPointer } from './report-query.js'
import { checkReport } from './reports.js'
import { reports as table } from './tables.js'

const tag = 'Reports'

export interface ReportRouteOptions {
  runner: QueryRunner
  delegations: Pick<Delegations, 'delegate' | 'actingBy'>
}

export function reportRoutes(
  { store, database: { db }, cursors }: Pick<ServiceContext, 'store' | 'database' | 'cursors'>,
  { runner, delegations }: ReportRouteOptions,
): Route[] {
  const reports = store.aggregate(report)
  return [
    defineList({
      operationId: 'listReports',
      path: '/analytics/reports',
      summary: 'List reports',
      description: 'With the query of each and the parameters it takes.',
      tag,
      scope: 'analytics:read',
      response: Report,
      handler: ({ query: { limit, after, sort }, binding, meta: { tenant } }) =>
        listPage(db, {
          table,
          tenant,
          sort: { column: table.createdAt, direction: sort.direction },
          ...{ limit, after, binding, cursors, asOf: undefined, present: reports.present },
        }),
    }),

    defineRoute({
      operationId: 'createReport',
      method: 'post',
      path: '/analytics/reports',
      summary: 'Create a report',
      description:
        'Its query is checked: what its dataset does not have is a 422 with the field. Emits `report.created`.',
      tag,
      scope: 'analytics:write',
      body: NewReport,
      response: Report,
      status: 201,
      handler: ({ body, meta }) => {
        checkReport(body, runner)
        const id = newId('report')
        const fields = { ...body, ownerId: meta.principal.userId }
        return reports.create(id, { kind: 'create', id, fields, now: meta.now }, meta)
      },
    }),

    defineRoute({
      operationId: 'getReport',
      method: 'get',
      path: '/analytics/reports/:id',
      summary: 'Get a report',
      description: 'With its query and the parameters it takes; running it is an operation of its own.',
      tag,
      scope: 'analytics:read',
      response: Report,
      errors: ['not_found'],
      handler: ({ params, meta }) => reports.get(params.id, meta.tenant),
    }),

    defineRoute({
      operationId: 'updateReport',
      method: 'patch',
      path: '/analytics/reports/:id',
      summary: 'Update a report',
      description: 'Emits `report.updated`, or nothing where nothing changes.',
      tag,
      scope: 'analytics:write',
      body: ReportPatch,
      response: Report,
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: async ({ params, body, meta }) => {
        const { query, parameters } = await reports.get(params.id, meta.tenant)
        checkReport({ query: body.query ?? query, parameters: body.parameters ?? parameters }, runner)
        return reports.handle(params.id, { kind: 'update', patch: body, now: meta.now }, meta)
      },
    }),

    defineRoute({
      operationId: 'deleteReport',
      method: 'delete',
      path: '/analytics/reports/:id',
      summary: 'Delete a report',
      description: 'Emits `report.deleted`.',
      tag,
      scope: 'analytics:write',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'precondition_failed', 'version_conflict'],
      handler: async ({ params, meta }) => {
        await reports.handle(params.id, { kind: 'delete' }, meta)
      },
    }),

    defineRoute({
      operationId: 'runReport',
      method: 'post',
      path: '/analytics/reports/:id/run',
      summary: 'Run a report',
      description:
        'With what the caller may read at this moment: a dataset takes its permission, a table (`tables:read` and `records:read`) or a saved query those of ' +
        'the database studio, whose row rules hold. `dataAsOf` says how old the data is.',
      tag,
      scope: 'analytics:read',
      body: RunReport,
      response: QueryAnswer,
      idempotency: 'none',
      waits: true,
      errors: ['not_found', 'insufficient_scope', 'forbidden', 'rate_limited', 'upstream_timeout'],
      handler: async ({ params, body, meta }) => {
        const query = fillQuery(await reports.get(params.id, meta.tenant), body)
        return mapQueryPointer(toReportPointer(body), () =>
          runner.runQuery(toCaller(meta, delegations), query, meta.signal()),
        )
      },
    }),
  ]
}
