import { expect, it } from '@jest/globals'
import { z } from 'zod'
import { defineResource } from './resource.js'
import { defineRoute } from './route.js'

const Report = z.object({ id: z.string(), name: z.string(), version: z.int() })
const stored = { id: 'rep_1', name: 'Week', version: 1 }
const route = defineResource({
  name: 'Report',
  path: '/analytics/reports',
  tag: 'Reports',
  read: 'analytics:read',
  write: 'analytics:write',
  response: Report,
})
const page = async () => ({ items: [stored], nextCursor: null, limit: 50 })
const one = async () => stored

it('defines the operations of a resource, each with id, method, path, scope and status', () => {
  const body = z.object({ name: z.string() })
  const routes = [
    route.list({ summary: 'List', handler: page }),
    route.create({ summary: 'Create', body, handler: one }),
    route.get({ summary: 'Get', handler: async ({ params }) => ({ ...stored, id: params.id }) }),
    route.update({ summary: 'Update', body, handler: one }),
    route.delete({ summary: 'Delete', handler: async () => {} }),
    route.action('take-over', { summary: 'Take over', handler: one }),
  ]
  const [all, single] = ['/analytics/reports', '/analytics/reports/:id']
  expect(
    routes.map(({ operationId, method, path, scope, status }) => [operationId, method, path, scope, status]),
  ).toEqual([
    ['listReports', 'get', all, 'analytics:read', 200],
    ['createReport', 'post', all, 'analytics:write', 201],
    ['getReport', 'get', single, 'analytics:read', 200],
    ['updateReport', 'patch', single, 'analytics:write', 200],
    ['deleteReport', 'delete', single, 'analytics:write', 204],
    ['takeOverReport', 'post', `${single}/take-over`, 'analytics:write', 200],
  ])
  expect(new Set(routes.map(({ tag }) => tag))).toEqual(new Set(['Reports']))
  expect(routes.map(({ response }) => response === Report)).toEqual([true, true, true, true, false, true])
})

it('allows an operation to override everything but its path, and a resource to have a custom plural', () => {
  const policy = defineResource({
    ...{ name: 'Policy', plural: 'Policies', path: '/teams/:team/policies', key: 'name' },
    ...{ tag: 'Policies', read: 'itsm:read', write: 'itsm:manage', response: Report },
  })
  const Removed = z.object({ removed: z.string() })
  const remove = policy.delete({
    ...{ operationId: 'retirePolicy', scope: 'itsm:write', response: Removed },
    summary: 'Retire',
    handler: async ({ params }) => ({ removed: `${params.team}/${params.name}` }),
  })
  expect(policy.list({ summary: 'List', handler: page })).toMatchObject({
    operationId: 'listPolicies',
    path: '/teams/:team/policies',
  })
  expect(remove).toMatchObject({
    operationId: 'retirePolicy',
    path: '/teams/:team/policies/:name',
    scope: 'itsm:write',
    status: 200,
    response: Removed,
  })
})

it('defines the same route as defineRoute', () => {
  const summary = 'Get'
  expect(route.get({ summary, handler: one })).toEqual(
    defineRoute({
      operationId: 'getReport',
      method: 'get',
      path: '/analytics/reports/:id',
      tag: 'Reports',
      scope: 'analytics:read',
      response: Report,
      summary,
      handler: one,
    }),
  )
})
