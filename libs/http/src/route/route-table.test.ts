import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { z } from 'zod'
import { defineList, defineRoute, defineStream, routeTableRoute } from '../index.js'
import { issuerFor, startTestApp, type TestApp } from '../server/test-app.fixture.js'

const described = { summary: 'Something', tag: 'things' }
const empty = { response: z.object({}), handler: async () => ({}) }
const routes = [
  defineRoute({ ...described, ...empty, operationId: 'a', method: 'post', path: '/a', scope: 'public' }),
  defineRoute({
    ...described,
    ...empty,
    operationId: 'b',
    method: 'get',
    path: '/b/:id',
    scope: 'authenticated',
    workspace: 'none',
  }),
  defineRoute({
    ...described,
    ...empty,
    operationId: 'c',
    method: 'put',
    path: '/c',
    scope: 'authenticated',
    bodyLimitBytes: 10,
  }),
  defineList({
    ...described,
    operationId: 'd',
    path: '/d',
    scope: 'itsm:read',
    waits: true,
    response: z.object({}),
    handler: async () => ({ items: [], limit: 50, nextCursor: null }),
  }),
  defineStream({
    ...described,
    operationId: 'e',
    path: '/e',
    scope: 'itsm:read',
    line: z.object({}),
    handler: async () => ({ fileName: 'e', batches: (async function* () {})() }),
  }),
  defineRoute({
    ...described,
    ...empty,
    operationId: 'f',
    method: 'get',
    path: '/internal/f',
    scope: 'service',
    callers: ['itsm'],
  }),
]

let app: TestApp
beforeAll(async () => {
  app = await startTestApp([...routes, routeTableRoute(routes)])
})
afterAll(() => app.close())

test('a service serves its route table to the gateway and workflows, and refuses other services', async () => {
  const rule = { access: 'workspace', bodyLimitBytes: 1024 * 1024, waits: false }
  const { json } = await app.call('GET', '/internal/routes', {
    token: await issuerFor('gateway').serviceToken('sut'),
  })
  expect(json).toMatchObject({
    data: {
      routes: [
        {
          ...rule,
          operationId: 'a',
          method: 'post',
          path: '/a',
          access: 'public',
          bodyLimitBytes: 16 * 1024,
        },
        { ...rule, operationId: 'b', method: 'get', path: '/b/:id', access: 'account' },
        { ...rule, operationId: 'c', method: 'put', path: '/c', bodyLimitBytes: 10 },
        { ...rule, operationId: 'd', method: 'get', path: '/d', waits: true },
        { ...rule, operationId: 'e', method: 'get', path: '/e', waits: true },
      ],
    },
  })
  expect((await app.call('GET', '/internal/routes')).status).toBe(403)
  expect((await app.call('GET', '/internal/routes', { token: null })).status).toBe(401)
})
