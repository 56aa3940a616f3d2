import { AppPage, AppPageWithProblems, PageInput, PagePatch } from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import type { Apps } from '../app/apps.js'
import { toWorkspaceScope } from '../workspace-scope.js'
import type { Pages } from './pages.js'
import { appPages as table } from './tables.js'

const path = '/apps/:id/pages'

const route = defineResource({
  name: 'AppPage',
  path: path,
  key: 'pageId',
  tag: 'App pages',
  read: 'apps:read',
  write: 'apps:write',
  response: AppPageWithProblems,
})

/** Pages of an app. */
export function pageRoutes(ctx: ServiceContext, { apps, pages }: { apps: Apps; pages: Pages }): Route[] {
  return [
    route.list({
      summary: 'List the pages of an app',
      description: 'Returns the pages in the order in which the app shows them.',
      sorts: [],
      response: AppPage,
      handler: pageReader(ctx, {
        table,
        present: pages.aggregate.present,
        select: async ({ params, meta }) => {
          await apps.get(params.id, meta)
          return {
            tenant: toWorkspaceScope(meta.tenant),
            where: [eq(table.appId, params.id)],
            sort: { column: table.position, direction: 'asc' },
          }
        },
      }),
    }),

    route.create({
      summary: 'Add a page to an app',
      description:
        'A page is a tree of components, whose expressions are parsed. `problems` lists data sources and pages the ' +
        'new page refers to that do not exist yet. Emits `app_page.created`.',
      body: PageInput,
      errors: ['conflict', 'invalid_state_transition'],
      handler: ({ params, body, meta }) => pages.create(params.id, body, meta),
    }),

    route.get({
      summary: 'Get a page of an app',
      description: 'Returns the page with its components, and `problems` that prevent its deployment.',
      // `problems` changes as the resources that the page names are created and deleted.
      changesUnversioned: true,
      handler: async ({ params, meta }) => {
        await apps.get(params.id, meta)
        return pages.get(params.id, params.pageId, meta.tenant)
      },
    }),

    route.update({
      summary: 'Update a page of an app',
      description:
        'Existing deployments do not change. Emits `app_page.updated`, or no event if nothing changes.',
      body: PagePatch,
      errors: ['invalid_state_transition', 'conflict'],
      handler: ({ params, body, meta }) => pages.update(params.id, params.pageId, body, meta),
    }),

    route.delete({
      summary: 'Remove a page from an app',
      description: 'Existing deployments keep the page. Emits `app_page.deleted`.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => pages.delete(params.id, params.pageId, meta),
    }),
  ]
}
