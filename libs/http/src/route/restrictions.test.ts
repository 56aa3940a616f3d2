import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import type { HonourableRestriction, Permission, Restrictions } from '@opsplane/contracts'
import { z } from 'zod'
import { defineRoute } from '../index.js'
import { gatewayToken, startTestApp, type TestApp, user } from '../server/test-app.fixture.js'

const route = (operationId: string, scope: Permission | 'authenticated', honours?: HonourableRestriction[]) =>
  defineRoute({
    operationId,
    method: 'get',
    path: `/${operationId}`,
    summary: 'Rows',
    tag: 'test',
    scope,
    ...(honours && { honours }),
    response: z.object({ rows: z.unknown() }),
    handler: async ({ meta }) => ({ rows: meta.principal.restrictions?.rows ?? null }),
  })

let app: TestApp
beforeAll(async () => {
  app = await startTestApp([
    route('unaware', 'itsm:read'),
    route('login', 'authenticated'),
    route('families', 'itsm:read', ['families']),
    route('both', 'itsm:read', ['families', 'rows']),
  ])
})
afterAll(() => app.close())

const permissions = ['itsm:read']
const get = async (path: string, restrictions?: Restrictions) => {
  const token = await gatewayToken({ ...user, permissions, ...(restrictions && { restrictions }) })
  const { status, json } = await app.call('GET', path, { token })
  return { status, json }
}
const rows = { 'data.customer': 'c-1' }

describe('a restricted principal', () => {
  it.each<[string, Restrictions]>([
    ['/unaware', {}],
    ['/unaware', { environments: ['production'] }],
    ['/unaware', { families: ['itsm'] }],
    ['/unaware', { rows }],
    ['/login', { families: ['itsm'] }],
    ['/families', { rows }],
    ['/families', { families: ['itsm'], rows }],
    ['/both', { families: ['tables'], rows }],
    ['/both', { environments: ['staging'], rows }],
  ])('is refused by %s with the restrictions %j', async (path, restrictions) => {
    expect(await get(path, restrictions)).toMatchObject({
      status: 403,
      json: { error: { code: 'forbidden' } },
    })
  })

  it('is allowed on routes that honour all its restrictions, which receive the signed rows', async () => {
    const restrictions = { environments: ['production'], families: ['itsm'], rows }
    expect(await get('/both', restrictions)).toMatchObject({ status: 200, json: { data: { rows } } })
    expect((await get('/families', { families: ['itsm'] })).status).toBe(200)
  })

  it('needs at least one restriction: without any, every route is open', async () => {
    for (const path of ['/unaware', '/login', '/both']) expect((await get(path)).status).toBe(200)
  })
})
