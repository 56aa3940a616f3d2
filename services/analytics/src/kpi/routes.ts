import {
  Kpi,
  KpiBackfill,
  KpiBackfillStarted,
  KpiPatch,
  KpiPoint,
  MomentOrDay,
  NewKpi,
} from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineList, defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import type { KpiAggregate, KpiService } from './kpis.js'
import { readPoints } from './point-store.js'
import { kpis as table } from './tables.js'

const tag = 'KPIs'
const path = '/analytics/kpis'

const route = defineResource({
  name: 'Kpi',
  path: path,
  tag,
  read: 'analytics:read',
  write: 'analytics:write',
  response: Kpi,
})

/** Routes for KPIs, their standing and their history. */
export function kpiRoutes(
  { database: { db, sql }, cursors }: Pick<ServiceContext, 'database' | 'cursors'>,
  { aggregate, kpis }: { aggregate: KpiAggregate; kpis: KpiService },
): Route[] {
  return [
    route.list({
      summary: 'List KPIs',
      description: 'Returns each KPI with its definition, its targets and its current `standing`.',
      handler: async ({ query: { limit, after, sort }, binding, meta: { tenant } }) => {
        const page = await listPage(db, {
          ...{ table, tenant, limit, after, binding, cursors, asOf: undefined, present: aggregate.present },
          sort: { column: table.createdAt, direction: sort.direction },
        })
        return { ...page, items: await kpis.shown(page.items) }
      },
    }),

    route.create({
      summary: 'Create a KPI',
      description:
        'The KPI is measured on its schedule, with the rights its owner has at that time. If its source is a ' +
        'dataset, the latest period is measured immediately. Emits `kpi.created`.',
      body: NewKpi,
      errors: ['not_found', 'quota_exceeded'],
      handler: ({ body, meta }) => kpis.create(body, meta),
    }),

    route.get({
      summary: 'Get a KPI',
      description: 'Returns the KPI with its definition, its targets and its current `standing`.',
      changesUnversioned: true,
      handler: async ({ params, meta }) =>
        first(await kpis.shown([await aggregate.get(params.id, meta.tenant)])),
    }),

    route.update({
      summary: 'Update a KPI',
      description:
        'Values that have already been measured do not change. A caller who changes the source, period or time zone ' +
        'becomes the owner. Emits `kpi.updated`.',
      body: KpiPatch,
      handler: async ({ params, body, meta }) =>
        first(await kpis.shown([await kpis.update(params.id, body, meta)])),
    }),

    route.action('take-over', {
      summary: 'Take over a KPI',
      description:
        'The caller becomes the owner, with whose rights the KPI is measured, and needs the permissions its source ' +
        'requires (403, `permission_not_held`). A suspended KPI is measured again from its next scheduled time. ' +
        'Emits `kpi.updated`.',
      errors: ['forbidden'],
      handler: async ({ params, meta }) => first(await kpis.shown([await kpis.takeOver(params.id, meta)])),
    }),

    route.delete({
      summary: 'Delete a KPI and its history',
      description: 'Emits `kpi.deleted`.',
      handler: ({ params, meta }) => kpis.remove(params.id, meta),
    }),

    defineList({
      operationId: 'getKpiHistory',
      path: `${path}/:id/history`,
      summary: 'Get the history of a KPI',
      description: 'Returns the measured values, each with the targets that applied at that time.',
      tag,
      scope: 'analytics:read',
      sorts: ['-at'],
      query: z.object({
        from: MomentOrDay.optional().meta({ description: 'Start of the range, inclusive.' }),
        to: MomentOrDay.optional().meta({ description: 'End of the range, exclusive.' }),
      }),
      response: KpiPoint,
      handler: async ({ params, query, binding, meta: { tenant } }) => {
        await aggregate.get(params.id, tenant)
        const { limit, from, to, sort } = query
        const scope = `${tenant.workspaceId}|${tenant.environment}|${binding}`
        const after = query.after === undefined ? undefined : String(cursors.decode(query.after, scope)[0])
        const page = { limit: limit + 1, from, to, after, direction: sort.direction }
        const found = await readPoints(sql, params.id, page)
        const items = found.slice(0, limit)
        const last = found.length > limit ? items.at(-1) : undefined
        return { items, nextCursor: last ? cursors.encode([last.at], scope) : null, limit }
      },
    }),

    route.action('backfill', {
      summary: 'Measure a KPI for past times',
      description:
        'Runs in the background on stored facts: each value is the one that would have been measured at that time, ' +
        'with the targets of that date. Crossed targets emit no events.',
      body: KpiBackfill,
      response: KpiBackfillStarted,
      status: 202,
      idempotency: 'claim',
      errors: ['conflict'],
      handler: async ({ params, body, meta }) => ({ times: await kpis.backfill(params.id, body, meta) }),
    }),
  ]
}

function first<Item>([item]: readonly Item[]): Item {
  if (item === undefined) throw new Error('Nothing was shown of a KPI.')
  return item
}
