import {
  NewSavedQuery,
  newId,
  QueryResult,
  RunSavedQuery,
  SavedQuery,
  SavedQueryPatch,
} from '@opsplane/contracts'
import { pageReader } from '@opsplane/eventstore'
import { defineList, defineResource, defineRoute, type Route } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { savedQueries as table } from '../sql/tables.js'
import { savedQuery } from './domain.js'
import { type FreeSql, queryTag as tag } from './run-routes.js'
import { buildRequest, checkSavedQuery, savedVersions } from './saved.js'

const route = defineResource({
  name: 'Query',
  plural: 'Queries',
  path: '/queries',
  tag,
  read: 'queries:read',
  write: 'queries:manage',
  response: SavedQuery,
})

/** Routes of saved queries. */
export function savedQueryRoutes(ctx: ServiceContext, freeSql: FreeSql): Route[] {
  const queries = ctx.store.aggregate(savedQuery)
  const versions = savedVersions(ctx)
  return [
    route.list({
      summary: 'List saved queries',
      description: 'Returns each saved query with its SQL and its parameters.',
      sorts: ['-createdAt', 'name'],
      handler: pageReader(ctx, { table, present: queries.present }),
    }),

    route.create({
      summary: 'Create a saved query',
      description:
        'The query is validated as when it runs; all parameters must be named and declared. Emits `query.created`.',
      body: NewSavedQuery,
      handler: async ({ body, meta }) => {
        await checkSavedQuery(body, ctx.database)
        const id = newId('query')
        return queries.create(id, { kind: 'create', id, fields: body, now: meta.now }, meta)
      },
    }),

    route.get({
      summary: 'Get a saved query',
      description: 'Returns the saved query with its SQL and its parameters.',
      handler: ({ params, meta }) => queries.get(params.id, meta.tenant),
    }),

    route.update({
      summary: 'Update a saved query',
      description:
        'Each change creates a new version. Emits `query.updated`, or no event if nothing changes.',
      body: SavedQueryPatch,
      handler: async ({ params, body, meta }) => {
        const { sql, mode, parameters } = body
        const present = await queries.get(params.id, meta.tenant)
        await checkSavedQuery({ ...present, ...defined({ sql, mode, parameters }) }, ctx.database)
        return queries.handle(params.id, { kind: 'update', patch: body, now: meta.now }, meta)
      },
    }),

    route.delete({
      summary: 'Delete a saved query',
      description: 'Emits `query.deleted`.',
      handler: ({ params, meta }) => queries.handle(params.id, { kind: 'delete' }, meta),
    }),

    defineList({
      operationId: 'listQueryVersions',
      path: '/queries/:id/versions',
      summary: 'List the versions of a saved query',
      description: 'Latest version first.',
      tag,
      scope: 'queries:read',
      sorts: [],
      response: SavedQuery,
      handler: async ({ params: { id }, query: { limit, after }, binding, meta: { tenant } }) => {
        await queries.get(id, tenant)
        return versions.list(id, { limit, after, binding }, tenant)
      },
    }),

    defineRoute({
      operationId: 'runSavedQuery',
      method: 'post',
      path: '/queries/:id/run',
      summary: 'Run a saved query',
      description:
        'Equivalent to `POST /queries/run` with the SQL of the saved query and the values of its parameters.',
      tag,
      scope: 'queries:run',
      body: RunSavedQuery,
      response: QueryResult,
      waits: true,
      idempotency: 'claim',
      errors: ['insufficient_scope', 'forbidden', 'quota_exceeded'],
      handler: async ({ params: { id }, body, meta }) => {
        const current = await queries.get(id, meta.tenant)
        const query = body.version === undefined ? current : await versions.get(id, body.version, meta.tenant)
        return freeSql.run(buildRequest(query, body), meta)
      },
    }),
  ]
}

/** The fields of a patch that are set. */
const defined = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>
  }
