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
      description: 'In the order they are shown.',
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
        'A tree of components, whose expressions are parsed. `problems` names data sources and pages it speaks of that ' +
        'are not there yet. Emits `app_page.created`.',
      body: PageInput,
      errors: ['conflict', 'invalid_state_transition'],
      handler: ({ params, body, meta }) => pages.create(params.id, body, meta),
    }),

    route.get({
      summary: 'Get a page of an app',
      description: 'With its components, and `problems`, which keep it from being deployed.',
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
        'Deployments stay as they are. Emits `app_page.updated`, or nothing where nothing changes.',
      body: PagePatch,
      errors: ['invalid_state_transition', 'conflict'],
      handler: ({ params, body, meta }) => pages.update(params.id, params.pageId, body, meta),
    }),

    route.delete({
      summary: 'Take a page out of an app',
      description: 'Deployments keep it. Emits `app_page.deleted`.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => pages.delete(params.id, params.pageId, meta),
    }),
  ]
}
