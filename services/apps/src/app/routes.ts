import { App, AppPatch, AppStatus, NewApp } from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { toWorkspaceScope } from '../workspace-scope.js'
import type { Apps } from './apps.js'
import { apps as table } from './tables.js'
import { visibleTo } from './visible.js'

const route = defineResource({
  name: 'App',
  path: '/apps',
  tag: 'Apps',
  read: 'apps:read',
  write: 'apps:write',
  response: App,
})

/** Routes for the apps of a workspace, which are the same in all its environments. */
export function appRoutes(ctx: ServiceContext, apps: Apps): Route[] {
  return [
    route.list({
      summary: 'List apps',
      description:
        'Those of the whole workspace that the caller may use or build. Archived ones are listed where `status` asks for them.',
      query: z.object({ status: AppStatus.default('active') }),
      sorts: ['-createdAt', 'name'],
      handler: pageReader(ctx, {
        table,
        present: apps.aggregate.present,
        select: ({ query: { status }, meta: { tenant, principal } }) => ({
          tenant: toWorkspaceScope(tenant),
          where: [eq(table.status, status), visibleTo(principal)],
        }),
      }),
    }),

    route.create({
      summary: 'Create an app',
      description:
        'It belongs to the workspace, and runs nowhere until it is deployed to an environment. Emits `app.created`.',
      body: NewApp,
      errors: ['conflict'],
      handler: ({ body, meta }) => apps.create(body, meta),
    }),

    route.get({
      summary: 'Get an app',
      description: 'With who may use it; what it shows are its pages.',
      handler: ({ params, meta }) => apps.get(params.id, meta),
    }),

    route.update({
      summary: 'Update an app',
      description:
        'Another slug is another address at once, wherever the app is deployed, and `access` says at once who may use it. ' +
        'Letting others in to an app that runs takes `apps:deploy` and all that its deployments take (403, ' +
        '`permission_not_held`). Emits `app.updated`, or nothing where nothing changes.',
      body: AppPatch,
      errors: ['forbidden', 'conflict', 'invalid_state_transition'],
      handler: ({ params, body, meta }) => apps.update(params.id, body, meta),
    }),

    route.delete({
      operationId: 'archiveApp',
      summary: 'Archive an app',
      description:
        'It runs in no environment any more, its embed tokens are worth nothing, and its slug is free. Final. Emits ' +
        '`app.archived`.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => apps.archive(params.id, meta),
    }),
  ]
}
