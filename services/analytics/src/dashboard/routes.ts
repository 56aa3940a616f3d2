import {
  Dashboard,
  DashboardData,
  DashboardDataQuery,
  DashboardPatch,
  NewDashboard,
  newId,
} from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { type Delegations, defineResource, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { z } from 'zod'
import { toCaller } from '../query/caller.js'
import type { ChangeWaiter } from './change-waiter.js'
import { readDashboardPage } from './dashboard-page.js'
import type { Dashboards } from './dashboards.js'
import type { DashboardDataReader } from './data.js'
import { pollData } from './poll.js'
import { dashboards as table } from './tables.js'

const tag = 'Dashboards'

const route = defineResource({
  name: 'Dashboard',
  path: '/analytics/dashboards',
  tag,
  read: 'analytics:read',
  write: 'analytics:write',
  response: Dashboard,
})

export interface DashboardRouteOptions {
  dashboards: Dashboards
  data: DashboardDataReader
  waiter: Pick<ChangeWaiter, 'waitUntil'>
  delegations: Pick<Delegations, 'delegate' | 'actingBy'>
}

export function dashboardRoutes(
  { database: { db }, cursors }: Pick<ServiceContext, 'database' | 'cursors'>,
  { dashboards, data, waiter, delegations }: DashboardRouteOptions,
): Route[] {
  return [
    route.list({
      summary: 'List dashboards',
      description:
        'Lists the built-in dashboards, which every workspace has, before the dashboards created in the workspace. ' +
        'With `builtIn`, lists only the built-in dashboards (`true`) or only the others (`false`).',
      query: z.object({
        builtIn: z
          .enum(['true', 'false'])
          .transform((text) => text === 'true')
          .optional(),
      }),
      handler: async ({ query: { limit, after, sort, builtIn }, binding, meta: { tenant } }) => {
        const ownPage = (pageOptions: { limit: number; after: string | undefined }) =>
          listPage(db, {
            table,
            tenant,
            sort: { column: table.createdAt, direction: sort.direction },
            ...{ ...pageOptions, binding, cursors, asOf: undefined, present: dashboards.aggregate.present },
          })
        return readDashboardPage({ limit, after, binding, cursors, builtIn, ownPage })
      },
    }),

    route.create({
      summary: 'Create a dashboard',
      description: 'The query of each widget is validated. Emits `dashboard.created`.',
      body: NewDashboard,
      handler: ({ body, meta }) => dashboards.create(newId('dashboard'), body, meta),
    }),

    route.get({
      summary: 'Get a dashboard',
      description: 'Returns a dashboard with its widgets, by its id or by the name of a built-in dashboard.',
      handler: ({ params, meta }) => dashboards.get(params.id, meta.tenant),
    }),

    route.update({
      summary: 'Update a dashboard',
      description: 'Built-in dashboards cannot be updated and are not found. Emits `dashboard.updated`.',
      body: DashboardPatch,
      handler: ({ params, body, meta }) => dashboards.update(params.id, body, meta),
    }),

    route.delete({
      summary: 'Delete a dashboard',
      description: 'Emits `dashboard.deleted`.',
      handler: ({ params, meta }) => dashboards.delete(params.id, meta),
    }),

    defineRoute({
      operationId: 'getDashboardData',
      method: 'get',
      path: '/analytics/dashboards/:id/data',
      summary: 'Get the data of a dashboard',
      description:
        'Returns the data of all widgets at once, limited to data the caller may read at this moment; an error of a ' +
        'widget is returned in its `error`. With the `since` of an earlier response, the request waits until there ' +
        'is newer data.',
      tag,
      scope: 'analytics:read',
      query: DashboardDataQuery,
      response: DashboardData,
      waits: true,
      handler: async ({ params, query: { since, timeout: timeoutMs }, meta }) => {
        const dashboard = await dashboards.get(params.id, meta.tenant)
        const caller = toCaller(meta, delegations)
        return pollData({ data, waiter }, { caller, dashboard, since, timeoutMs, signal: meta.signal() })
      },
    }),
  ]
}
