import { NewReport, newId, QueryAnswer, Report, ReportPatch, RunReport } from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { type Delegations, defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { toCaller } from '../query/caller.js'
import { mapQueryPointer } from '../query/invalid-query.js'
import type { QueryRunner } from '../query/types.js'
import { report } from './domain.js'
import { fillQuery, toReportPointer } from './report-query.js'
import { checkReport } from './reports.js'
import { reports as table } from './tables.js'

const route = defineResource({
  name: 'Report',
  path: '/analytics/reports',
  tag: 'Reports',
  read: 'analytics:read',
  write: 'analytics:write',
  response: Report,
})

export interface ReportRouteOptions {
  runner: QueryRunner
  delegations: Pick<Delegations, 'delegate' | 'actingBy'>
}

export function reportRoutes(
  ctx: Pick<ServiceContext, 'store' | 'database' | 'cursors'>,
  { runner, delegations }: ReportRouteOptions,
): Route[] {
  const reports = ctx.store.aggregate(report)
  return [
    route.list({
      summary: 'List reports',
      description: 'Returns each report with its query and its parameters.',
      handler: pageReader(ctx, { table, present: reports.present }),
    }),

    route.create({
      summary: 'Create a report',
      description:
        'The query is validated: names that do not exist in its dataset return 422 with the field. Emits ' +
        '`report.created`.',
      body: NewReport,
      handler: ({ body, meta }) => {
        checkReport(body, runner)
        const id = newId('report')
        const fields = { ...body, ownerId: meta.principal.userId }
        return reports.create(id, { kind: 'create', id, fields, now: meta.now }, meta)
      },
    }),

    route.get({
      summary: 'Get a report',
      description:
        'Returns the report with its query and its parameters, but without data; running a report is a separate ' +
        'operation.',
      handler: ({ params, meta }) => reports.get(params.id, meta.tenant),
    }),

    route.update({
      summary: 'Update a report',
      description: 'Emits `report.updated`, or no event if nothing changes.',
      body: ReportPatch,
      handler: async ({ params, body, meta }) => {
        const { query, parameters } = await reports.get(params.id, meta.tenant)
        checkReport({ query: body.query ?? query, parameters: body.parameters ?? parameters }, runner)
        return reports.handle(params.id, { kind: 'update', patch: body, now: meta.now }, meta)
      },
    }),

    route.delete({
      summary: 'Delete a report',
      description: 'Emits `report.deleted`.',
      handler: ({ params, meta }) => reports.handle(params.id, { kind: 'delete' }, meta),
    }),

    route.action('run', {
      summary: 'Run a report',
      description:
        'Returns only data the caller may read at this moment: a dataset requires its own permission; a table ' +
        '(`tables:read` and `records:read`) or a saved query requires the permissions of the database studio, whose ' +
        'row rules apply. `dataAsOf` states the age of the data.',
      scope: 'analytics:read',
      body: RunReport,
      response: QueryAnswer,
      idempotency: 'none',
      waits: true,
      errors: ['insufficient_scope', 'forbidden'],
      handler: async ({ params, body, meta }) => {
        const query = fillQuery(await reports.get(params.id, meta.tenant), body)
        return mapQueryPointer(toReportPointer(body), () =>
          runner.runQuery(toCaller(meta, delegations), query, meta.signal()),
        )
      },
    }),
  ]
}
