import { App, AppPatch, AppStatus, NewApp } from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { toWorkspaceScope } from '../workspace-scope.js'
import type { Apps } from './apps.js'
import { apps as table } from './tables.js'
import { visibleTo } from './visible.js'

const tag = 'Apps'
const sortColumns = { createdAt: table.createdAt, name: table.name }

/** Apps of the workspace: the same in all its environments. */
export function appRoutes({ database: { db }, cursors }: ServiceContext, apps: Apps): Route[] {
  return [
    defineList({
      operationId: 'listApps',
      path: '/apps',
      summary: 'List apps',
      description:
        'Those of the whole workspace that the caller may use or build. Archived ones are listed where `status` asks for them.',
      tag,
      scope: 'apps:read',
      query: z.object({ status: AppStatus.default('active') }),
      sorts: ['-createdAt', 'name'],
      response: App,
      handler: ({ query: { limit, after, sort, status }, binding, meta: { tenant, principal } }) =>
        listPage(db, {
          table,
          tenant: toWorkspaceScope(tenant),
          where: [eq(table.status, status), visibleTo(principal)],
          sort: { column: sortColumns[sort.field], direction: sort.direction },
          ...{ limit, after, binding, cursors, asOf: undefined, present: apps.aggregate.present },
        }),
    }),

    defineRoute({
      operationId: 'createApp',
      method: 'post',
      path: '/apps',
      summary: 'Create an app',
      description:
        'It belongs to the workspace, and runs nowhere until it is deployed to an environment. Emits `app.created`.',
      tag,
      scope: 'apps:write',
      body: NewApp,
      response: App,
      status: 201,
      errors: ['conflict'],
      handler: ({ body, meta }) => apps.create(body, meta),
    }),

    defineRoute({
      operationId: 'getApp',
      method: 'get',
      path: '/apps/:id',
      summary: 'Get an app',
      description: 'With who may use it; what it shows are its pages.',
      tag,
      scope: 'apps:read',
      response: App,
      errors: ['not_found'],
      handler: ({ params, meta }) => apps.get(params.id, meta),
    }),

    defineRoute({
      operationId: 'updateApp',
      method: 'patch',
      path: '/apps/:id',
      summary: 'Update an app',
      description:
        'Another slug is another address at once, wherever the app is deployed, and `access` says at once who may use it. ' +
        'Letting others in to an app that runs takes `apps:deploy` and all that its deployments take (403, ' +
        '`permission_not_held`). Emits `app.updated`, or nothing where nothing changes.',
      tag,
      scope: 'apps:write',
      body: AppPatch,
      response: App,
      errors: [
        'not_found',
        'forbidden',
        'conflict',
        'invalid_state_transition',
        'precondition_failed',
        'version_conflict',
      ],
      handler: ({ params, body, meta }) => apps.update(params.id, body, meta),
    }),

    defineRoute({
      operationId: 'archiveApp',
      method: 'delete',
      path: '/apps/:id',
      summary: 'Archive an app',
      description:
        'It runs in no environment any more, its embed tokens are worth nothing, and its slug is free. Final. Emits ' +
        '`app.archived`.',
      tag,
      scope: 'apps:write',
      response: z.void(),
      status: 204,
      errors: ['not_found', 'invalid_state_transition', 'precondition_failed', 'version_conflict'],
      handler: async ({ params, meta }) => {
        await apps.archive(params.id, meta)
      },
    }),
  ]
}
