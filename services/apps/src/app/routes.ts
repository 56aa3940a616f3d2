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
        'Lists the apps of the whole workspace that the caller may use or build. Archived apps are listed only if ' +
        '`status` selects them.',
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
        'The app belongs to the workspace, and does not run until it is deployed to an environment. Emits ' +
        '`app.created`.',
      body: NewApp,
      errors: ['conflict'],
      handler: ({ body, meta }) => apps.create(body, meta),
    }),

    route.get({
      summary: 'Get an app',
      description:
        'Returns the app with its access settings; its contents are returned by the operations for its pages.',
      handler: ({ params, meta }) => apps.get(params.id, meta),
    }),

    route.update({
      summary: 'Update an app',
      description:
        'A new slug changes the address immediately in every environment the app is deployed to; a change of ' +
        '`access` also takes effect immediately. Extending the access to a deployed app requires `apps:deploy` and ' +
        'all permissions its deployments require (403, `permission_not_held`). Emits `app.updated`, or no event if ' +
        'nothing changes.',
      body: AppPatch,
      errors: ['forbidden', 'conflict', 'invalid_state_transition'],
      handler: ({ params, body, meta }) => apps.update(params.id, body, meta),
    }),

    route.delete({
      operationId: 'archiveApp',
      summary: 'Archive an app',
      description:
        'The app no longer runs in any environment, its embed tokens become invalid, and its slug becomes available ' +
        'again. Cannot be undone. Emits `app.archived`.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => apps.archive(params.id, meta),
    }),
  ]
}
