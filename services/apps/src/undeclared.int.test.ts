import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type App, AppActionAnswer, type Principal } from '@opsplane/contracts'
import { testPrincipal } from '@opsplane/testing'
import { SignJWT } from 'jose'
import {
  type AppsFixture,
  type GivenSource,
  type RunningApp,
  startApps,
  tableOf,
} from './fixture/apps-fixture.js'

/** An app can do nothing that its deployment does not declare. */

const sources: GivenSource[] = [
  {
    name: 'assets',
    binding: {
      ...{ kind: 'table', table: 'assets', operations: ['list', 'get', 'create', 'update', 'delete'] },
      ...{ fields: ['serial', 'site'], writable: ['serial', 'site'], values: { owner: '{{ user.id }}' } },
      filter: { owner: '{{ user.id }}' },
      search: { site: '{{ params.site }}', serial: { starts_with: '{{ params.prefix }}' } },
      ...{ sort: 'serial', limit: 20 },
    },
    params: { site: { type: 'json' }, prefix: { type: 'text', maxLength: 5 } },
  },
  { name: 'readOnly', binding: { kind: 'table', table: 'assets' } },
  {
    name: 'dropBox',
    binding: { kind: 'table', table: 'assets', operations: ['create'], writable: ['serial'] },
  },
  {
    name: 'sums',
    binding: { kind: 'query', query: 'Sums', input: { town: '{{ params.town }}' } },
    params: { town: { type: 'text', required: true, enum: ['Berlin', 'Hamburg'] } },
    result: '{{ {"total": $sum(rows.amount)} }}',
  },
  {
    name: 'notify',
    binding: { kind: 'connector', connector: 'chat', action: 'post', input: { text: '{{ params.text }}' } },
    params: { text: { type: 'text' } },
  },
]

let fixture: AppsFixture
let app: App
let me: RunningApp
const id = 'rec_01JZ8Q4D3N5W7X9Y2B4C6D8E0F'
const row = { id, version: 4, serial: 'A-1', site: 'Berlin', owner: 'x', secret: 'psst' }
const times = { createdAt: '2026-03-01T10:00:00.000Z', updatedAt: '2026-03-01T10:00:00.000Z' }

beforeAll(async () => {
  fixture = await startApps()
  Object.assign(fixture.platform.answers, {
    getTable: () => ({ data: tableOf('assets', 'serial', 'site', 'owner', 'customer') }),
    listQueries: () => ({
      data: [
        {
          ...{
            id: 'qry_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
            name: 'Sums',
            description: '',
            mode: 'read',
            version: 7,
          },
          ...{ sql: 'select :town', parameters: [{ name: 'town', type: 'text' }], ...times },
        },
      ],
    }),
    listConnectors: () => ({
      data: [
        {
          ...{
            id: 'con_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
            name: 'chat',
            kind: 'http',
            description: '',
            config: {},
          },
          ...{
            enabled: true,
            retry: { attempts: 1, delayMs: 10, maxDelayMs: 10 },
            timeoutMs: 1_000,
            version: 1,
          },
          ...{ ownerId: 'usr_1', status: 'up', statusChangedAt: null, lastError: null, ...times },
        },
      ],
    }),
  })
  app = await fixture.build(sources)
  await fixture.deploy(app.id, { embeddable: true })
  me = fixture.person(app.slug)
})
afterAll(() => fixture?.stop())
beforeEach(() => {
  fixture.platform.calls.length = 0
  Object.assign(fixture.platform.answers, {
    listRecords: () => ({ data: [{ id, version: 4, serial: 'A-1', site: 'Berlin' }] }),
    createRecord: () => ({ data: row }),
    runRecordBatch: () => ({ data: { results: [{ record: row }], dryRun: false } }),
    runSavedQuery: () => ({
      data: {
        columns: [],
        rows: [{ amount: 2 }, { amount: 3 }],
        rowCount: 2,
        truncated: null,
        durationMs: 1,
      },
    }),
    invokeConnector: () => ({
      data: { invocationId: 'ivk_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', output: 'sent', attempts: 1, durationMs: 1 },
    }),
  })
})

const called = () => fixture.platform.calls.map(({ operationId }) => operationId)
const filterSent = (index = 0) => JSON.parse(fixture.platform.calls[index]?.query.filter ?? 'null')
const resultOf = async (reply: ReturnType<RunningApp['act']>) => (await reply).data(AppActionAnswer).value
const errorOf = async (reply: ReturnType<RunningApp['act']>) => (await reply).error()

describe('a list', () => {
  it('has the columns, the filter, the order and the length that are declared', async () => {
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
    ['a parameter nobody declares', { owner: 'x' }],
    ['a parameter of another type', { prefix: 5 }],
    ['a parameter too long', { prefix: 'A-1234' }],
    ['the name of what every object has', { constructor: 'x' }],
  ])('is refused with %s', async (_why, params) => {
    expect(await me.data('assets', params)).toMatchObject({ error: { code: 'validation_failed' } })
    expect(called()).toEqual([])
  })

  it.each([[{ ne: 'nowhere' }], [['Berlin', 'Hamburg']], [{ exists: true }]])(
    'takes no operators in place of a value: %j',
    async (site) => {
      expect(await me.data('assets', { site })).toMatchObject({ error: { code: 'validation_failed' } })
      expect(called()).toEqual([])
    },
  )

  it('takes no filter, fields, sort, table or limit from the browser', async () => {
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

  it('fills in no secrets that a parameter speaks of', async () => {
    const answer = await me.data('assets', { site: '{{secrets.token}}' })
    expect(answer).toMatchObject({ error: { code: 'validation_failed' } })
    expect(called()).toEqual([])
  })

  it.each(['salaries', '__proto__', 'constructor', ''])(
    'is of no source but those declared: %j',
    async (name) => {
      const asked = me.data(name)
      if (name === '') await expect(asked).rejects.toThrow('422')
      else expect(await asked).toMatchObject({ error: { code: 'not_found' } })
      expect(called()).toEqual([])
    },
  )

  it('is not of a source that only takes records, nor of one with effects', async () => {
    expect(await me.data('dropBox')).toMatchObject({ error: { code: 'forbidden' } })
    expect(await me.data('notify', { text: 'x' })).toMatchObject({ error: { code: 'forbidden' } })
    expect(called()).toEqual([])
  })
})

describe('an action', () => {
  it('sets the declared columns, and over them what the server sets', async () => {
    const values = { serial: 'A-2', site: 'Berlin' }
    const made = await resultOf(me.act({ source: 'assets', operation: 'create', values }))
    expect(made).toEqual({ id, version: 4, serial: 'A-1', site: 'Berlin' })
    expect(fixture.platform.calls[0]?.body).toEqual({ ...values, owner: fixture.principal.userId })
    for (const more of [{ owner: 'other' }, { id: 'rec_1' }, { secret: 'x' }])
      expect(await errorOf(me.act({ source: 'assets', operation: 'create', values: more }))).toMatchObject({
        ...{ code: 'validation_failed', details: [{ code: 'unrecognized_key' }] },
      })
    expect(called()).toEqual(['createRecord'])
    // What is only written to is not read by it.
    const dropped = me.act({ source: 'dropBox', operation: 'create', values: { serial: 'A-2' } })
    expect(await resultOf(dropped)).toEqual({ id, version: 4 })
  })

  it.each(['get', 'create', 'update', 'delete'])('is none that is not declared: %s', async (operation) => {
    const error = await errorOf(me.act({ source: 'readOnly', operation, id, values: {} }))
    expect(error.code).toBe('forbidden')
    expect(called()).toEqual([])
  })

  it('changes a record only as it was found within the filter', async () => {
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
    const stale = { source: 'assets', operation: 'update', id, values: {}, version: 3 }
    expect((await errorOf(me.act(stale))).code).toBe('precondition_failed')
  })

  it('finds no record outside of the filter', async () => {
    fixture.platform.answers.listRecords = () => ({ data: [] })
    for (const operation of ['get', 'update', 'delete'])
      expect((await errorOf(me.act({ source: 'assets', operation, id, values: {} }))).code).toBe('not_found')
    expect(new Set(called())).toEqual(new Set(['listRecords']))
  })

  it('runs the pinned version of a query, with the parameters that are declared', async () => {
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

  it('invokes the declared action of a connector, and no other', async () => {
    expect(await resultOf(me.act({ source: 'notify', params: { text: 'Hi' } }))).toBe('sent')
    expect(fixture.platform.calls[0]?.body).toEqual({ action: 'post', input: { text: 'Hi' } })
    for (const more of [{ action: 'delete' }, { input: {} }, { connector: 'x' }])
      expect((await errorOf(me.act({ source: 'notify', params: {}, ...more }))).code).toBe(
        'validation_failed',
      )
  })

  it('says which value of the form is wrong, and nothing of how it was saved', async () => {
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

  it('has one effect when it is sent again with its key', async () => {
    const keys: string[] = []
    fixture.platform.answers.createRecord = () => ({ data: row })
    const send = async (who: RunningApp, key?: string) => {
      await who.act(
        { source: 'assets', operation: 'create', values: {} },
        key === undefined ? {} : { 'idempotency-key': key },
      )
      keys.push(fixture.platform.calls.at(-1)?.key ?? '')
    }
    const other = fixture.person(app.slug, { ...fixture.principal, userId: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0G' })
    for (const [who, key] of [[me, 'a'], [me, 'a'], [me, 'b'], [other, 'a'], [me], [me]] as const)
      await send(who, key)
    expect(keys[0]).toBe(keys[1])
    expect(new Set(keys).size).toBe(5)
  })
})

describe('a person', () => {
  it('acts with what they may do, and of that no more than the deployment takes', async () => {
    await me.data('assets')
    expect(fixture.platform.granted.at(-1)).toMatchObject({
      ...{ expiresInSeconds: 60 },
      permissions: ['connectors:invoke', 'records:read', 'records:write', 'queries:run'],
    })
  })

  it.each<[string, Partial<Principal>, number]>([
    ['without apps:use', { permissions: ['apps:read', 'apps:write', 'records:read'] }, 403],
    ['of another workspace', { workspaceId: 'ws_other' }, 404],
    ['who names another workspace than the address', { workspaceSlug: 'other' }, 403],
    ['of an environment it is not deployed to', { environment: 'staging' }, 404],
    ['whose token is restricted', { restrictions: { rows: { site: 'Berlin' } } }, 403],
  ])('does not get in %s', async (_why, who, status) => {
    const app_ = fixture.person(app.slug, testPrincipal({ ...fixture.principal, ...who }))
    expect((await app_.definition()).status).toBe(status)
    expect((await app_.act({ source: 'assets', operation: 'create', values: {} })).status).toBe(status)
    expect(called()).toEqual([])
  })
})

describe('an embed', () => {
  const rowFilter = { customer: 'c-17', site: { in: ['Berlin', 'Ulm'] } }
  const enter = async (body: object = {}, headers?: Record<string, string>) =>
    fixture.embed(app.slug, (await fixture.embedToken(app.id, body)).token, headers)

  it('shows the app to whom the token names, by the grant of whoever deployed it', async () => {
    const user = { id: 'customer-17', name: 'Kim', email: '' }
    const guest = await enter({ user })
    expect(JSON.parse((await guest.definition()).text).data).toMatchObject({ user, app: { slug: app.slug } })
    await guest.data('assets')
    expect(filterSent()).toEqual({ owner: 'customer-17' })
    const standing = fixture.platform.granted.findIndex(({ expiresInSeconds }) => expiresInSeconds === null)
    expect(fixture.platform.calls[0]?.grant).toBe(`grant-${standing + 1}`)
  })

  it('has the row filter in everything it reads and changes, whatever is asked', async () => {
    const guest = await enter({ rowFilter, user: { id: 'k', name: 'Kim' } })
    await guest.data('assets', { site: 'Hamburg' })
    expect(filterSent()).toEqual({ ...rowFilter, owner: 'k', or: [{ site: 'Hamburg' }] })
    for (const operation of ['get', 'update', 'delete']) {
      fixture.platform.calls.length = 0
      await guest.act({ source: 'assets', operation, id, values: {} })
      expect(filterSent()).toEqual({ ...rowFilter, id, owner: 'k' })
    }
  })

  it('makes and leaves no record outside of the row filter', async () => {
    const guest = await enter({ rowFilter })
    const create = (values: object) => guest.act({ source: 'assets', operation: 'create', values })
    const update = (values: object) => guest.act({ source: 'assets', operation: 'update', id, values })
    await resultOf(create({ site: 'Ulm' }))
    expect(fixture.platform.calls[0]?.body).toMatchObject({ customer: 'c-17', site: 'Ulm' })
    for (const outside of [create({ site: 'Rome' }), create({}), update({ site: 'Rome' })])
      expect(await errorOf(outside)).toMatchObject({
        ...{ code: 'validation_failed', details: [{ path: '/values/site', code: 'outside_row_filter' }] },
      })
    await resultOf(update({ site: 'Berlin' }))
    expect(fixture.platform.calls.at(-1)?.operationId).toBe('runRecordBatch')
  })

  it('reaches what the row filter cannot bind only where the token says so', async () => {
    const guest = await enter({ rowFilter })
    expect(await guest.data('sums', { town: 'Berlin' })).toMatchObject({ error: { code: 'forbidden' } })
    expect((await errorOf(guest.act({ source: 'notify', params: { text: 'x' } }))).code).toBe('forbidden')
    expect(called()).toEqual([])
    const exempt = await enter({ rowFilter, exempt: ['sums', 'readOnly'] })
    expect(await exempt.data('sums', { town: 'Berlin' })).toMatchObject({ value: { total: 5 } })
    await exempt.data('readOnly')
    expect(filterSent(1)).toEqual({})
  })

  it('ends with its token: revoked, expired, or of an app that is archived or embeddable no more', async () => {
    const other = await fixture.build(sources)
    await fixture.deploy(other.id, { embeddable: true })
    const { id: tokenId, token } = await fixture.embedToken(other.id)
    const guest = fixture.embed(other.slug, token)
    expect((await guest.definition()).status).toBe(200)
    await fixture.deploy(other.id)
    expect((await guest.definition()).error().code).toBe('forbidden')
    await fixture.deploy(other.id, { embeddable: true })
    await fixture.service.sql`update embed_tokens set state =
      jsonb_set(state::jsonb, '{expiresAt}', '"2020-01-01T00:00:00.000Z"')::json where id = ${tokenId}`
    expect((await guest.definition()).error().code).toBe('token_expired')
    const next = await fixture.embedToken(other.id)
    await fixture.api.send('DELETE', `/apps/${other.id}/embed-tokens/${next.id}`)
    expect((await fixture.embed(other.slug, next.token).definition()).error().code).toBe('invalid_token')
    const last = await fixture.embedToken(other.id)
    await fixture.api.send('DELETE', `/apps/${other.id}`)
    expect((await fixture.embed(other.slug, last.token).definition()).status).toBe(404)
  })

  it('is of one app, one workspace and one environment', async () => {
    const other = await fixture.build(sources)
    await fixture.deploy(other.id, { embeddable: true })
    const { token } = await fixture.embedToken(app.id)
    expect((await fixture.embed(other.slug, token).definition()).status).toBe(404)
    const elsewhere = await fixture.service.as().get(`/origin/apps/other/${app.slug}/-/definition`, {
      headers: { 'x-internal-guest-token': token },
    })
    expect(elsewhere.status).toBe(404)
    // Whatever environment is asked for: the token's.
    const staging = fixture.embed(app.slug, token, { 'x-environment': 'staging' })
    expect(JSON.parse((await staging.definition()).text).data.app.environment).toBe('production')
  })

  it.each(['cross-site', 'same-site', 'none'])('is not used by a page of another site: %s', async (site) => {
    const guest = await enter({}, { 'sec-fetch-site': site })
    expect((await guest.definition()).error().code).toBe('forbidden')
    expect(
      (await enter({}, { 'sec-fetch-site': 'same-origin' }).then((own) => own.definition())).status,
    ).toBe(200)
  })

  it('takes no token but its own', async () => {
    const { token, id: jti } = await fixture.embedToken(app.id)
    const [head = '', body = '', signature = ''] = token.split('.')
    const bent = (part: string, change: object) =>
      Buffer.from(
        JSON.stringify({ ...JSON.parse(Buffer.from(part, 'base64url').toString()), ...change }),
      ).toString('base64url')
    const forged = (claims: object, secret: string, header: object = {}) =>
      new SignJWT({ jti, workspace: 'acme', app: app.id, environment: 'production', ...claims })
        .setProtectedHeader({ alg: 'HS256', typ: 'embed+jwt', ...header })
        .setIssuer('opsplane-apps')
        .setAudience('opsplane-app')
        .setExpirationTime('1h')
        .sign(Buffer.from(secret.padEnd(32, '.')))
    const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString())
    const bearer = (await fixture.service.headers(fixture.principal)).authorization ?? ''
    const tokens = [
      `${head}.${bent(body, { environment: 'staging' })}.${signature}`,
      `${head}.${bent(body, { rows: null, exp: 9_999_999_999 })}.${signature}`,
      `${bent(head, { alg: 'none' })}.${body}.`,
      `${head}.${body}.${signature.slice(0, -4)}AAAA`,
      await forged({}, 'secret', { kid }),
      await forged({}, 'secret', { kid: 'other' }),
      await forged({}, fixture.service.env.SERVICE_PRIVATE_KEY ?? '', { kid }),
      // What services know each other by is no embed token.
      bearer.replace('Bearer ', ''),
      'x',
    ]
    for (const each of tokens)
      expect((await fixture.embed(app.slug, each).definition()).error().code).toBe('invalid_token')
  })

  it('takes nothing at all without a token', async () => {
    const nobody = fixture.service.as()
    const path = `/origin/apps/acme/${app.slug}/-`
    expect((await nobody.get(`${path}/definition`)).error().code).toBe('unauthenticated')
    expect((await nobody.get(`${path}/definition`, { headers: { cookie: 'token=x' } })).status).toBe(401)
    const body = { requests: [{ key: 'a', source: 'assets' }] }
    expect((await nobody.post(`${path}/data`, body)).error().code).toBe('unauthenticated')
  })
})
