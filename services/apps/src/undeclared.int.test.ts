import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type App, AppActionAnswer, type Principal } from '@opsplane/contracts'
import { testPrincipal } from '@opsplane/testing'
import type { AppsFixture, RunningApp } from './fixture/apps-fixture.js'
import {
  listCalledOperations as calledOf,
  findSentFilter as filterSentOf,
  id,
  resetPlatform,
  row,
  startDeclared,
} from './fixture/declared-app.js'

/** An app can do nothing that its deployment does not declare. */

let fixture: AppsFixture
let app: App
let me: RunningApp

beforeAll(async () => {
  const started = await startDeclared()
  fixture = started
  app = started.app
  me = fixture.person(app.slug)
})
afterAll(() => fixture?.stop())
beforeEach(() => resetPlatform(fixture))

const called = () => calledOf(fixture)
const filterSent = (index = 0) => filterSentOf(fixture, index)
const resultOf = async (reply: ReturnType<RunningApp['act']>) => (await reply).data(AppActionAnswer).value
const errorOf = async (reply: ReturnType<RunningApp['act']>) => (await reply).error()

describe('a list', () => {
  it('has the declared columns, filter, order and limit', async () => {
    expect(await me.data('assets', { site: 'Berlin' })).toMatchObject({ rows: [{ serial: 'A-1' }] })
    expect(fixture.platform.calls).toMatchObject([
      {
        ...{ operationId: 'listRecords', params: { slug: 'assets' } },
        query: { fields: 'serial,site', sort: 'serial', limit: '20' },
      },
    ])
    expect(filterSent()).toEqual({ owner: fixture.principal.userId, site: 'Berlin' })
  })

  it.each<[string, object]>([
    ['an undeclared parameter', { owner: 'x' }],
    ['a parameter of another type', { prefix: 5 }],
    ['a parameter too long', { prefix: 'A-1234' }],
    ['the name of what every object has', { constructor: 'x' }],
  ])('is refused with %s', async (_why, params) => {
    expect(await me.data('assets', params)).toMatchObject({ error: { code: 'validation_failed' } })
    expect(called()).toEqual([])
  })

  it.each([[{ ne: 'nowhere' }], [['Berlin', 'Hamburg']], [{ exists: true }]])(
    'rejects operators in place of a value: %j',
    async (site) => {
      expect(await me.data('assets', { site })).toMatchObject({ error: { code: 'validation_failed' } })
      expect(called()).toEqual([])
    },
  )

  it('rejects filter, fields, sort, table and limit from the browser', async () => {
    for (const more of [
      { filter: {} },
      { fields: 'secret' },
      { sort: 'secret' },
      { table: 'x' },
      { limit: 500 },
    ])
      await expect(me.data('assets', {}, more)).rejects.toThrow('422')
    expect(called()).toEqual([])
  })

  it('rejects a secret reference in a parameter', async () => {
    const answer = await me.data('assets', { site: '{{secrets.token}}' })
    expect(answer).toMatchObject({ error: { code: 'validation_failed' } })
    expect(called()).toEqual([])
  })

  it.each(['salaries', '__proto__', 'constructor', ''])(
    'is refused for an undeclared source: %j',
    async (name) => {
      const asked = me.data(name)
      if (name === '') await expect(asked).rejects.toThrow('422')
      else expect(await asked).toMatchObject({ error: { code: 'not_found' } })
      expect(called()).toEqual([])
    },
  )

  it('is refused for a write-only source and for a source with side effects', async () => {
    expect(await me.data('dropBox')).toMatchObject({ error: { code: 'forbidden' } })
    expect(await me.data('notify', { text: 'x' })).toMatchObject({ error: { code: 'forbidden' } })
    expect(called()).toEqual([])
  })
})

describe('an action', () => {
  it('sets only the declared columns, and adds the values set by the server', async () => {
    const values = { serial: 'A-2', site: 'Berlin' }
    const made = await resultOf(me.act({ source: 'assets', operation: 'create', values }))
    expect(made).toEqual({ id, version: 4, serial: 'A-1', site: 'Berlin' })
    expect(fixture.platform.calls[0]?.body).toEqual({ ...values, owner: fixture.principal.userId })
    for (const more of [{ owner: 'other' }, { id: 'rec_1' }, { secret: 'x' }])
      expect(await errorOf(me.act({ source: 'assets', operation: 'create', values: more }))).toMatchObject({
        ...{ code: 'validation_failed', details: [{ code: 'unrecognized_key' }] },
      })
    expect(called()).toEqual(['createRecord'])
    // A write-only source returns no columns.
    const dropped = me.act({ source: 'dropBox', operation: 'create', values: { serial: 'A-2' } })
    expect(await resultOf(dropped)).toEqual({ id, version: 4 })
  })

  it.each(['get', 'create', 'update', 'delete'])(
    'is refused when the source does not declare it: %s',
    async (operation) => {
      const error = await errorOf(me.act({ source: 'readOnly', operation, id, values: {} }))
      expect(error.code).toBe('forbidden')
      expect(called()).toEqual([])
    },
  )

  it('changes a record only in the version found within the filter', async () => {
    await resultOf(me.act({ source: 'assets', operation: 'update', id, values: { site: 'Ulm' } }))
    expect(filterSent()).toEqual({ id, owner: fixture.principal.userId })
    expect(fixture.platform.calls[1]).toMatchObject({
      ...{ operationId: 'runRecordBatch' },
      body: { operations: [{ op: 'update', table: 'assets', id, version: 4, data: { site: 'Ulm' } }] },
    })
    await resultOf(me.act({ source: 'assets', operation: 'delete', id }))
    expect(fixture.platform.calls[3]?.body).toEqual({
      operations: [{ op: 'delete', table: 'assets', id, version: 4 }],
    })
    // The named version is sent to the studio unchanged, because the studio may recognise the request by its key.
    fixture.platform.answers.runRecordBatch = () => ({ status: 412, code: 'precondition_failed' })
    const stale = { source: 'assets', operation: 'update', id, values: {}, version: 3 }
    expect((await errorOf(me.act(stale))).code).toBe('precondition_failed')
    expect(fixture.platform.calls.at(-1)?.body).toMatchObject({ operations: [{ version: 3 }] })
    const ahead = { ...stale, version: 5 }
    expect((await errorOf(me.act(ahead))).code).toBe('precondition_failed')
    expect(called().at(-1)).toBe('listRecords')
  })

  it('finds no record outside of the filter', async () => {
    fixture.platform.answers.listRecords = () => ({ data: [] })
    for (const operation of ['get', 'update', 'delete'])
      expect((await errorOf(me.act({ source: 'assets', operation, id, values: {} }))).code).toBe('not_found')
    expect(new Set(called())).toEqual(new Set(['listRecords']))
  })

  it('runs the pinned version of a query with only the declared parameters', async () => {
    expect(await resultOf(me.act({ source: 'sums', params: { town: 'Berlin' } }))).toEqual({ total: 5 })
    expect(fixture.platform.calls).toMatchObject([
      { operationId: 'runSavedQuery', body: { version: 7, parameters: { town: 'Berlin' } } },
    ])
    for (const params of [{}, { town: 'Rome' }, { town: 'Berlin', sql: 'drop table x' }])
      expect((await errorOf(me.act({ source: 'sums', params }))).code).toBe('validation_failed')
    expect((await errorOf(me.act({ source: 'sums', params: { town: 'Berlin' }, values: {} }))).code).toBe(
      'validation_failed',
    )
  })

  it('invokes only the declared action of a connector', async () => {
    expect(await resultOf(me.act({ source: 'notify', params: { text: 'Hi' } }))).toBe('sent')
    expect(fixture.platform.calls[0]?.body).toEqual({ action: 'post', input: { text: 'Hi' } })
    for (const more of [{ action: 'delete' }, { input: {} }, { connector: 'x' }])
      expect((await errorOf(me.act({ source: 'notify', params: {}, ...more }))).code).toBe(
        'validation_failed',
      )
  })

  it('reports which form value is invalid, without the path of the batch operation', async () => {
    const details = [
      { in: 'body' as const, path: '/operations/0/data/site', code: 'too_big', message: 'is too long' },
    ]
    fixture.platform.answers.runRecordBatch = () => ({ status: 422, code: 'validation_failed', details })
    const error = await errorOf(me.act({ source: 'assets', operation: 'update', id, values: { site: 'x' } }))
    expect(error).toMatchObject({
      code: 'validation_failed',
      details: [{ path: '/values/site', code: 'too_big' }],
    })
  })

  it.each([
    ['/parameters/town', '/params/town'],
    ['/parameters/elsewhere', '/params'],
    ['/version', '/params'],
  ])('reports which parameter is invalid when the source rejects the call: %s', async (path, place) => {
    const details = [{ in: 'body' as const, path, code: 'invalid_value', message: 'is no town' }]
    fixture.platform.answers.runSavedQuery = () => ({ status: 422, code: 'validation_failed', details })
    const error = await errorOf(me.act({ source: 'sums', params: { town: 'Berlin' } }))
    expect(error).toMatchObject({ details: [{ in: 'body', path: place, message: 'is no town' }] })
  })

  it('has one effect when it is repeated with its idempotency key, even across deployments', async () => {
    const keys: string[] = []
    fixture.platform.answers.createRecord = () => ({ data: row })
    const { service, principal } = fixture
    // Repeated requests are detected behind the platform: the service passes the key on.
    const send = async (userId: string, key?: string) => {
      const headers = {
        ...(await service.headers({ ...principal, userId })),
        ...{ 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
      }
      const body = JSON.stringify({ source: 'assets', operation: 'create', values: {} })
      const url = `${service.url}/origin/apps/acme/${app.slug}/-/actions`
      expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(200)
      keys.push(fixture.platform.calls.at(-1)?.key ?? '')
    }
    const [me, other] = [principal.userId, 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0G']
    await send(me, 'a')
    await fixture.deploy(app.id, { embeddable: true })
    for (const [who, key] of [[me, 'a'], [me, 'b'], [other, 'a'], [me], [me]] as const) await send(who, key)
    expect(keys[0]).toBe(keys[1])
    expect(new Set(keys).size).toBe(5)
  })
})

it('refuses an action only from a page of another deployment', async () => {
  const { deployment } = JSON.parse((await me.definition()).text).data.app
  const request = { source: 'assets', operation: 'create', values: {} }
  expect(await errorOf(me.act({ ...request, deployment: deployment - 1 }))).toMatchObject({
    ...{ code: 'conflict', details: [{ path: '/deployment', code: 'redeployed' }] },
  })
  expect(called()).toEqual([])
  await resultOf(me.act({ ...request, deployment }))
})

describe('a person', () => {
  it('acts with only the permissions of the deployment, granted by its giver', async () => {
    await me.data('assets')
    const { granted, delegated } = fixture.platform
    const standing = granted.findLastIndex(({ expiresInSeconds }) => expiresInSeconds === null)
    expect(granted[standing]?.permissions).toEqual([
      ...['connectors:invoke', 'records:read', 'records:write', 'queries:run'],
    ])
    const last = delegated.at(-1)
    expect(last?.grant).toBe(`grant-${standing + 1}`)
    // The person's own grant only identifies them and lends no permissions.
    const own = granted.find((_, index) => last?.person === `grant-${index + 1}`)
    expect(own).toMatchObject({ expiresInSeconds: 60, permissions: [] })
  })

  it.each<[string, Partial<Principal>, number]>([
    ['without apps:use', { permissions: ['apps:read', 'apps:write', 'records:read'] }, 403],
    ['of another workspace', { workspaceId: 'ws_other' }, 404],
    ['who names another workspace than the address', { workspaceSlug: 'other' }, 403],
    ['of an environment it is not deployed to', { environment: 'staging' }, 404],
    ['whose token is restricted', { restrictions: { rows: { site: 'Berlin' } } }, 403],
  ])('is refused access: %s', async (_why, who, status) => {
    const app_ = fixture.person(app.slug, testPrincipal({ ...fixture.principal, ...who }))
    expect((await app_.definition()).status).toBe(status)
    expect((await app_.act({ source: 'assets', operation: 'create', values: {} })).status).toBe(status)
    expect(called()).toEqual([])
  })
})
