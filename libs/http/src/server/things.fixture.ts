import { ApiError, notFound } from '@opsplane/contracts'
import { z } from 'zod'
import { defineList, defineRoute } from '../index.js'

export const Thing = z
  .object({ id: z.string(), title: z.string(), version: z.int() })
  .meta({ id: 'AppTestThing' })

const base = { tag: 'things', summary: 'A thing', scope: 'itsm:read', response: Thing } as const

export const routes = [
  defineRoute({
    ...base,
    operationId: 'getThing',
    method: 'get',
    path: '/things/:id',
    handler: async ({ params }) => ({ id: params.id, title: 'lamp', version: 3 }),
  }),
  defineRoute({
    ...base,
    operationId: 'getNewest',
    method: 'get',
    path: '/things/newest',
    handler: async () => ({ id: 'newest', title: 'lamp', version: 1 }),
  }),
  defineRoute({
    ...base,
    operationId: 'createThing',
    method: 'post',
    path: '/things',
    status: 201,
    bodyLimitBytes: 1000,
    body: z.strictObject({
      title: z.string().min(2),
      count: z.int().default(1),
      'a/b': z.array(z.object({ n: z.number() })).optional(),
      free: z.unknown().optional(),
    }),
    handler: async ({ body }) => ({ id: 'new', title: `${body.title} x${body.count}`, version: 1 }),
  }),
  defineRoute({
    ...base,
    operationId: 'closeThing',
    method: 'post',
    path: '/things/:id/close',
    body: z.object({ reason: z.string().optional() }),
    handler: async ({ params, meta }) => ({ id: params.id, title: String(meta.expectedVersion), version: 4 }),
  }),
  defineRoute({
    ...base,
    operationId: 'openThing',
    method: 'post',
    path: '/things/:id/open',
    handler: async ({ params }) => ({ id: params.id, title: 'open', version: 5 }),
  }),
  defineRoute({
    ...base,
    operationId: 'deleteThing',
    method: 'delete',
    path: '/things/:id',
    response: z.void(),
    status: 204,
    handler: async () => undefined,
  }),
  defineRoute({
    ...base,
    operationId: 'failThing',
    method: 'get',
    path: '/fail/:how',
    handler: async ({ params }) => {
      if (params.how === 'absent') throw notFound()
      if (params.how === 'down')
        throw new ApiError('service_unavailable', 'Postgres is away.', { cause: new Error('ECONNREFUSED') })
      throw new Error('the password is hunter2')
    },
  }),
  defineRoute({
    ...base,
    operationId: 'describeCaller',
    method: 'get',
    path: '/caller',
    response: z.unknown(),
    handler: async ({ meta: { tenant, actor, requestId, source, principal } }) => ({
      tenant,
      actor,
      requestId,
      source,
      permissions: principal.permissions,
    }),
  }),
  defineRoute({
    ...base,
    scope: 'service',
    callers: ['itsm'],
    operationId: 'describeSource',
    method: 'get',
    path: '/internal/source',
    response: z.unknown(),
    handler: async ({ meta: { source } }) => ({ source }),
  }),
  defineList({
    ...base,
    operationId: 'listThings',
    path: '/things',
    sorts: ['-createdAt', 'title'],
    query: z.object({ status: z.array(z.enum(['open', 'closed'])).optional(), q: z.string().optional() }),
    handler: async ({ query, binding }) => ({
      items: [
        { id: `${query.sort.field} ${query.sort.direction} ${query.after}`, title: binding, version: 1 },
      ],
      nextCursor: query.limit === 1 ? 'next' : null,
      limit: query.limit,
    }),
  }),
]
