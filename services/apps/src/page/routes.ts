import { AppPage, AppPageWithProblems, type ErrorCode, PageInput, PagePatch } from '@opsplane/contracts'
import { listPage } from '@opsplane/eventstore'
import { defineList, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import { z } from 'zod'
import type { Apps } from '../app/apps.js'
import { toWorkspaceScope } from '../workspace-scope.js'
import type { Pages } from './pages.js'
import { appPages as table } from './tables.js'

const tag = 'App pages'
const path = '/apps/:id/pages'
const one = `${path}/:pageId` as const
const changes: ErrorCode[] = [
  'not_found',
  'invalid_state_transition',
  'precondition_failed',
  'version_conflict',
]

/** Pages of an app. */
export function pageRoutes(
  { database: { db }, cursors }: ServiceContext,
  { apps, pages }: { apps: Apps; pages: Pages },
): Route[] {
  return [
    defineList({
      operationId: 'listAppPages',
      path,
      summary: 'List the pages of an app',
      description: 'In the order they are shown.',
      tag,
      scope: 'apps:read',
      sorts: [],
      response: AppPage,
      errors: ['not_found'],
      handler: async ({ params, query: { limit, after }, binding, meta }) => {
        await apps.get(params.id, meta)
        return listPage(db, {
          table,
          tenant: toWorkspaceScope(meta.tenant),
          where: [eq(table.appId, params.id)],
          sort: { column: table.position, direction: 'asc' },
          ...{ limit, after, binding, cursors, asOf: undefined, present: pages.aggregate.present },
        })
      },
    }),

    defineRoute({
      operationId: 'createAppPage',
      method: 'post',
      path,
      summary: 'Add a page to an app',
      description:
        'A tree of components, whose expressions are parsed. `problems` names data sources and pages it speaks of that ' +
        'are not there yet. Emits `app_page.created`.',
      tag,
      scope: 'apps:write',
      body: PageInput,
      response: AppPageWithProblems,
      status: 201,
      errors: ['not_found', 'conflict', 'invalid_state_transition'],
      handler: ({ params, body, meta }) => pages.create(params.id, body, meta),
    }),

    defineRoute({
      operationId: 'getAppPage',
      method: 'get',
      path: one,
      summary: 'Get a page of an app',
      description: 'With its components, and `problems`, which keep it from being deployed.',
      tag,
      scope: 'apps:read',
      response: AppPageWithProblems,
      // What it names may come and go.
      changesUnversioned: true,
      errors: ['not_found'],
      handler: async ({ params, meta }) => {
        await apps.get(params.id, meta)
        return pages.get(params.id, params.pageId, meta.tenant)
      },
    }),

    defineRoute({
      operationId: 'updateAppPage',
      method: 'patch',
      path: one,
      summary: 'Update a page of an app',
      description:
        'Deployments stay as they are. Emits `app_page.updated`, or nothing where nothing changes.',
      tag,
      scope: 'apps:write',
      body: PagePatch,
      response: AppPageWithProblems,
      errors: [...changes, 'conflict'],
      handler: ({ params, body, meta }) => pages.update(params.id, params.pageId, body, meta),
    }),

    defineRoute({
      operationId: 'deleteAppPage',
      method: 'delete',
      path: one,
      summary: 'Take a page out of an app',
      description: 'Deployments keep it. Emits `app_page.deleted`.',
      tag,
      scope: 'apps:write',
      response: z.void(),
      status: 204,
      errors: changes,
      handler: ({ params, meta }) => pages.delete(params.id, params.pageId, meta),
    }),
  ]
}
