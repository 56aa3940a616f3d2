import { DataSource, DataSourceInput, DataSourcePatch, DataSourceWithProblems } from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineResource, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { eq } from 'drizzle-orm'
import type { Apps } from '../app/apps.js'
import { toWorkspaceScope } from '../workspace-scope.js'
import type { Sources } from './sources.js'
import { dataSources as table } from './tables.js'

const path = '/apps/:id/data-sources'

const route = defineResource({
  name: 'DataSource',
  path: path,
  key: 'sourceId',
  tag: 'App data sources',
  read: 'apps:read',
  write: 'apps:write',
  response: DataSource,
})

/** Routes for the data sources of an app. */
export function sourceRoutes(
  ctx: ServiceContext,
  { apps, sources }: { apps: Apps; sources: Sources },
): Route[] {
  return [
    route.list({
      summary: 'List the data sources of an app',
      description: 'Returns the data sources by name, each with the resource it is bound to.',
      sorts: [],
      handler: pageReader(ctx, {
        table,
        present: sources.aggregate.present,
        select: async ({ params, meta }) => {
          await apps.get(params.id, meta)
          return {
            tenant: toWorkspaceScope(meta.tenant),
            where: [eq(table.appId, params.id)],
            sort: { column: table.name, direction: 'asc' },
          }
        },
      }),
    }),

    route.create({
      summary: 'Add a data source to an app',
      description:
        'Expressions of a data source run on the server; a browser sends only the declared parameters. `problems` ' +
        'lists referenced resources that are missing from the environment of the request or do not match; a ' +
        'deployment to that environment fails because of them. Emits `data_source.created`.',
      body: DataSourceInput,
      response: DataSourceWithProblems,
      errors: ['conflict', 'invalid_state_transition'],
      handler: ({ params, body, meta }) => sources.create(params.id, body, meta),
    }),

    route.get({
      summary: 'Get a data source of an app',
      description:
        'Returns the data source with the resource it is bound to, its parameters and the expression of its result.',
      handler: async ({ params, meta }) => {
        await apps.get(params.id, meta)
        return sources.get(params.id, params.sourceId, meta.tenant)
      },
    }),

    route.update({
      summary: 'Update a data source of an app',
      description:
        'Existing deployments do not change. Returns `problems`, as on creation. Emits `data_source.updated`, or no ' +
        'event if nothing changes.',
      body: DataSourcePatch,
      response: DataSourceWithProblems,
      errors: ['invalid_state_transition', 'conflict'],
      handler: ({ params, body, meta }) => sources.update(params.id, params.sourceId, body, meta),
    }),

    route.delete({
      summary: 'Remove a data source from an app',
      description: 'Existing deployments keep the data source. Emits `data_source.deleted`.',
      errors: ['invalid_state_transition'],
      handler: ({ params, meta }) => sources.delete(params.id, params.sourceId, meta),
    }),
  ]
}
