import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { allowedActionsSchema, type Permission, requireForAll } from '@opsplane/contracts'
import { z } from 'zod'
import { defineList, defineRoute } from '../index.js'
import {
  gatewayToken,
  MemoryIdempotencyStore,
  startTestApp,
  type TestApp,
  user,
} from '../server/test-app.fixture.js'

const actions = ['edit', 'approve', 'accept'] as const
const needs = requireForAll(actions, 'itsm:write', { approve: 'itsm:approve', accept: null })
const Part = z.object({ allowedActions: allowedActionsSchema(z.enum(actions), needs, 'the status') })
const Thing = Part.extend({
  id: z.string(),
  version: z.int(),
  parts: z.array(Part),
})
type Thing = z.infer<typeof Thing>

const thing = (): Thing => ({
  id: 'thing_1',
  version: 1,
  allowedActions: [...actions],
  parts: [{ allowedActions: ['edit', 'approve'] }],
})

let app: TestApp
const store = new MemoryIdempotencyStore()
beforeAll(async () => {
  const read = { summary: 'x', tag: 't', scope: 'itsm:read', response: Thing } as const
  const routes = [
    defineRoute({
      ...read,
      operationId: 'get',
      method: 'get',
      path: '/things/:id',
      handler: async () => thing(),
    }),
    defineRoute({
      ...read,
      operationId: 'make',
      method: 'post',
      path: '/things',
      status: 201,
      handler: async ({ meta }) => store.commit(meta, thing()),
    }),
    defineList({
      ...read,
      operationId: 'list',
      path: '/things',
      sorts: ['createdAt'],
      handler: async () => ({ items: [thing()], nextCursor: null, limit: 50 }),
    }),
    defineRoute({
      ...read,
      scope: 'public',
      operationId: 'open',
      method: 'get',
      path: '/open',
      handler: async () => thing(),
    }),
  ]
  app = await startTestApp(routes, { idempotency: store })
})
afterAll(() => app.close())

const as = (permissions: Permission[]) => gatewayToken({ ...user, permissions })
const Data = z.object({ data: Thing })

describe('the allowed actions of a record', () => {
  test.each<[Permission[], string[], string[]]>([
    [['itsm:read'], ['accept'], []],
    [['itsm:read', 'itsm:write'], ['edit', 'accept'], ['edit']],
    [['itsm:read', 'itsm:approve'], ['approve', 'accept'], ['approve']],
    [['itsm:read', 'itsm:write', 'itsm:approve'], [...actions], ['edit', 'approve']],
  ])('are limited to the permissions %j of the caller', async (permissions, own, ofPart) => {
    const token = await as(permissions)
    const expected = { ...thing(), allowedActions: own, parts: [{ allowedActions: ofPart }] }
    const one = await app.call('GET', '/things/thing_1', { token })
    expect(Data.parse(one.json).data).toEqual(expected)
    const list = await app.call('GET', '/things', { token })
    expect(z.object({ data: z.array(Thing) }).parse(list.json).data).toEqual([expected])
  })

  test('are the same when a request is replayed', async () => {
    const call = { token: await as(['itsm:read']), headers: { 'idempotency-key': 'once' } }
    const [first, again] = [await app.call('POST', '/things', call), await app.call('POST', '/things', call)]
    expect(again.headers['idempotency-replayed']).toBe('true')
    expect(Data.parse(again.json)).toEqual(Data.parse(first.json))
    expect(Data.parse(again.json).data.allowedActions).toEqual(['accept'])
  })

  test('are complete where the request has no user', async () => {
    const reply = await app.call('GET', '/open', { token: await gatewayToken() })
    expect(reply).toMatchObject({ status: 200, json: { data: thing() } })
  })
})
