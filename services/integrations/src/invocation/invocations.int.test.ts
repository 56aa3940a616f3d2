import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import {
  Connector,
  ConnectorInvocation,
  ConnectorInvocationDetail,
  ConnectorKind,
  ConnectorResult,
  newId,
  type Permission,
} from '@opsplane/contracts'
import { causationHeader, createGrants } from '@opsplane/http'
import { createApiClient, testKeys, testPrincipal, waitFor } from '@opsplane/testing'
import { z } from 'zod'
import { createGate, type Fixture, startFixture } from '../fixture/integrations-fixture.js'

let fixture: Fixture
beforeAll(async () => {
  const limits = { connectorInvocations: 2, connectors: 20, egressBytesPerMinute: 5_000_000 }
  fixture = await startFixture({ LIMITS: JSON.stringify(limits) })
})
afterAll(() => fixture?.stop())
beforeEach(() => {
  fixture.answers(() => ({ status: 200 }))
  fixture.arrived()
})

const connect = (more: object = {}) => fixture.connect('http', { baseUrl: fixture.receiver.url }, more)
const logOf = async (id: string, query = '') =>
  (await fixture.api.get(`/connectors/${id}/invocations${query}`)).page(ConnectorInvocation)
const may = (...permissions: Permission[]) => fixture.service.as({ ...fixture.principal, permissions })

it('lists the connector kinds with schemas from which forms can be built', async () => {
  const kinds = (await fixture.api.get('/connectors/kinds')).data(z.array(ConnectorKind))
  expect(kinds.map(({ name }) => name)).toEqual(['http', 'openapi', 'postgres', 'slack', 'smtp', 'topic'])
  for (const { config, actions } of kinds) {
    expect(config).toMatchObject({ type: 'object', additionalProperties: false })
    for (const { input } of actions) expect(input.type).toBe('object')
  }
})

describe('a connector', () => {
  it('has a unique name, by which it can be found', async () => {
    const { name, id } = await connect()
    const taken = { name, kind: 'http', config: { baseUrl: fixture.receiver.url } }
    expect((await fixture.api.post('/connectors', taken)).error()).toMatchObject({
      code: 'conflict',
      details: [{ path: '/name', code: 'not_unique' }],
    })
    const found = (await fixture.api.get(`/connectors?name=${encodeURIComponent(name)}`)).page(
      Connector,
    ).items
    expect(found.map((each) => each.id)).toEqual([id])
  })

  it('counts towards the connector limit of its environment', async () => {
    const inStaging = fixture.service.as({ ...fixture.principal, environment: 'staging' })
    const create = (at: number) => {
      const config = { baseUrl: fixture.receiver.url }
      return inStaging.post('/connectors', { name: `connector ${at}`, kind: 'http', config })
    }
    for (let at = 0; at < 20; at++) expect((await create(at)).status).toBe(201)
    expect((await create(20)).error()).toMatchObject({
      code: 'quota_exceeded',
      details: [{ params: { limit: 'connectors', max: 20 } }],
    })
    const { id } = (await inStaging.get('/connectors?limit=1')).page(Connector).items[0] ?? { id: '' }
    await inStaging.send('DELETE', `/connectors/${id}`)
    expect((await create(20)).status).toBe(201)
  })

  it('is validated by its kind whenever its configuration is set', async () => {
    const { id } = await connect()
    const refused = await fixture.api.patch(`/connectors/${id}`, { config: { baseUrl: 'https://10.0.0.1/' } })
    expect(refused.error().details).toMatchObject([{ path: '/config/baseUrl', code: 'blocked_address' }])
    const changed = await fixture.api.patch(`/connectors/${id}`, {
      config: { baseUrl: `${fixture.receiver.url}/x` },
    })
    expect(changed.data(Connector)).toMatchObject({ version: 2, config: { auth: { type: 'none' } } })
  })

  it('is not invoked while it is disabled', async () => {
    const { id } = await connect({ enabled: false })
    expect((await fixture.invoke(id, 'get', {})).error().details[0]?.code).toBe('connector_disabled')
    expect(fixture.arrived()).toEqual([])
  })

  it('can be invoked, tested, updated and inspected only with the permission for each operation', async () => {
    const { id } = await connect()
    const { invocationId } = (await fixture.invoke(id, 'get', {})).data(ConnectorResult)
    const reader = may('connectors:read')
    expect((await reader.get(`/connectors/${id}/invocations`)).status).toBe(200)
    for (const reply of [
      await reader.post(`/connectors/${id}/invoke`, { action: 'get' }),
      await reader.post(`/connectors/${id}/test`),
      await reader.get(`/connectors/${id}/invocations/${invocationId}`),
      await may('connectors:read', 'connectors:invoke').patch(`/connectors/${id}`, { enabled: false }),
    ])
      expect(reply.error().code).toBe('insufficient_scope')
  })

  it('is not found from another workspace or environment', async () => {
    const { id } = await connect()
    const { invocationId } = (await fixture.invoke(id, 'get', {})).data(ConnectorResult)
    for (const other of [testPrincipal(), { ...fixture.principal, environment: 'development' as const }]) {
      const stranger = fixture.service.as(other)
      for (const reply of [
        await stranger.get(`/connectors/${id}`),
        await stranger.get(`/connectors/${id}/actions`),
        await stranger.get(`/connectors/${id}/invocations`),
        await stranger.get(`/connectors/${id}/invocations/${invocationId}`),
        await stranger.post(`/connectors/${id}/invoke`, { action: 'get' }),
        await stranger.post(`/connectors/${id}/test`),
        await stranger.patch(`/connectors/${id}`, { enabled: false }),
        await stranger.send('DELETE', `/connectors/${id}`),
      ])
        expect(reply.error().code).toBe('not_found')
      expect((await stranger.get('/connectors')).page(Connector).items).toEqual([])
    }
    expect(fixture.arrived()).toHaveLength(1)
  })
})

describe('an invocation', () => {
  it('is logged, newest first, and can be filtered by its attributes', async () => {
    const { id } = await connect({ retry: { attempts: 1, delayMs: 10, maxDelayMs: 10 } })
    await fixture.invoke(id, 'get', { path: 'a' })
    fixture.answers(() => ({ status: 404, body: 'gone' }))
    await fixture.invoke(id, 'post', { body: { n: 1 } })
    const all = (await logOf(id)).items
    expect(all.map(({ action, status, trigger }) => [action, status, trigger])).toEqual([
      ['post', 'failed', 'api'],
      ['get', 'succeeded', 'api'],
    ])
    const detail = await fixture.api.get(`/connectors/${id}/invocations/${all[0]?.id}`)
    expect(detail.data(ConnectorInvocationDetail)).toMatchObject({
      ...{ errorCode: 'upstream_error', attempts: 1, callerId: fixture.principal.userId, truncated: false },
      ...{ request: '{"body":{"n":1}}', response: 'gone' },
    })
    const named = async (query: string) => (await logOf(id, query)).items.map(({ action }) => action)
    expect(await named('?status=failed')).toEqual(['post'])
    expect(await named('?action=get')).toEqual(['get'])
    expect(await named('?trigger=workflows')).toEqual([])
    expect(await named('?callerId=usr_nobody')).toEqual([])
    expect(await named(`?to=${all[1]?.createdAt}`)).toEqual([])
    expect(await named(`?from=${all[1]?.createdAt}`)).toEqual(['post', 'get'])
    const { items, pagination } = await logOf(id, '?limit=1')
    const next = await logOf(id, `?limit=1&after=${pagination.nextCursor}`)
    expect([items[0]?.id, next.items[0]?.id, next.pagination.hasMore]).toEqual([
      all[0]?.id,
      all[1]?.id,
      false,
    ])
    expect((await fixture.api.get(`/connectors/${id}/invocations?after=x`)).error().code).toBe(
      'invalid_cursor',
    )
  })

  it('keeps at most 64 KiB of the request and of the response', async () => {
    const { id } = await connect()
    fixture.answers(() => ({ status: 200, body: 'ü'.repeat(100_000) }))
    const { invocationId } = (await fixture.invoke(id, 'post', { body: 'ä'.repeat(100_000) })).data(
      ConnectorResult,
    )
    const detail = await fixture.api.get(`/connectors/${id}/invocations/${invocationId}`)
    const { request, response, truncated } = detail.data(ConnectorInvocationDetail)
    expect([request, response].map((text) => Buffer.byteLength(text ?? '') > 65_000)).toEqual([true, true])
    expect([request, response].map((text) => Buffer.byteLength(text ?? '') <= 65_536)).toEqual([true, true])
    expect([truncated, request.endsWith('ä'), response?.endsWith('ü')]).toEqual([true, true, true])
  })

  it('returns the recorded result when repeated with its key, and resends the same key after a failure', async () => {
    const { id } = await connect({ retry: { attempts: 1, delayMs: 10, maxDelayMs: 10 } })
    let count = 0
    fixture.answers(() => (count++ === 0 ? { status: 500 } : { status: 200, body: `answer ${count}` }))
    const ask = () => fixture.invoke(id, 'post', { body: 1 }, { key: 'run-1/step-2' })
    expect((await ask()).status).toBe(502)
    const [second, third] = [await ask(), await ask()]
    expect(third.data(ConnectorResult)).toEqual(second.data(ConnectorResult))
    expect(third.headers.get('idempotency-replayed')).toBe('true')
    const keys = fixture.arrived().map(({ headers }) => headers['idempotency-key'])
    expect([keys.length, new Set(keys).size]).toEqual([2, 1])
    expect((await fixture.invoke(id, 'get', {}, { key: 'run-1/step-2' })).error().code).toBe(
      'idempotency_key_reused',
    )
  })

  it('with a key continues when its caller disconnects, and returns its result when it is repeated', async () => {
    const { id } = await connect()
    const arrived = createGate()
    const answer = createGate()
    fixture.answers(async () => {
      arrived.open()
      await answer.opened
      return { status: 200, body: 'late' }
    })
    const leaving = new AbortController()
    const asked = fetch(`${fixture.service.url}/connectors/${id}/invoke`, {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        ...(await fixture.service.headers(fixture.principal)),
        ...{ 'content-type': 'application/json', 'idempotency-key': 'left' },
      },
      body: JSON.stringify({ action: 'post', input: {} }),
    }).catch(() => 'left')
    await arrived.opened
    leaving.abort()
    expect(await asked).toBe('left')
    answer.open()
    const again = await waitFor(async () => {
      const reply = await fixture.invoke(id, 'post', {}, { key: 'left' })
      return reply.status === 200 && reply
    })
    expect(again.data(ConnectorResult).output).toMatchObject({ body: 'late' })
    expect(fixture.arrived()).toHaveLength(1)
  })

  it('by a service on behalf of a user is logged with the service, the run and the user', async () => {
    const { id } = await connect()
    const claims = { principal: fixture.principal, by: 'workflows', run: 'wfv_of_its_grant' }
    const token = await createGrants(testKeys('settings').privateKey).tokenFor(claims, 'integrations')
    const asWorkflows = createApiClient(fixture.service.url, () => ({ authorization: `Bearer ${token}` }))
    const run = newId('run')
    const headers = { 'idempotency-key': 'run_1/step', [causationHeader]: run }
    const ask = () => asWorkflows.post(`/connectors/${id}/invoke`, { action: 'get' }, headers)
    const [first, second] = [await ask(), await ask()]
    expect(second.data(ConnectorResult)).toEqual(first.data(ConnectorResult))
    expect(fixture.arrived()).toHaveLength(1)
    expect((await logOf(id, '?trigger=workflows')).items).toMatchObject([
      { run, callerId: fixture.principal.userId },
    ])
  })

  it('is refused without waiting when the workspace has too many in flight', async () => {
    const { id } = await connect()
    const answer = createGate()
    fixture.answers(async () => {
      await answer.opened
      return { status: 200 }
    })
    const before = fixture.receiver.received().length
    const underway = [fixture.invoke(id, 'get', {}), fixture.invoke(id, 'get', {})]
    await fixture.receiver.waitForRequests(before + 2)
    const refused = await fixture.invoke(id, 'get', {})
    expect(refused.error().details[0]?.params).toMatchObject({ limit: 'connectorInvocations', max: 2 })
    answer.open()
    expect((await Promise.all(underway)).map(({ status }) => status)).toEqual([200, 200])
  })

  it('sends no more bytes than a workspace may send per minute', async () => {
    const { id } = await connect()
    const send = () => fixture.invoke(id, 'post', { body: 'x'.repeat(900_000) })
    let refused = await send()
    // The minute of the limit may end during the test.
    for (let at = 0; at < 20 && refused.status === 200; at++) refused = await send()
    expect(refused.error()).toMatchObject({
      code: 'rate_limited',
      details: [{ params: { limit: 'egressBytesPerMinute', max: 5_000_000 } }],
    })
  })

  it('is deleted from the log once it has expired', async () => {
    const { id } = await connect()
    await fixture.invoke(id, 'get', {})
    const { invocationId } = (await fixture.invoke(id, 'get', {})).data(ConnectorResult)
    await fixture.service.sql`
      update connector_invocations set expires_at = now() - interval '1 hour' where connector_id = ${id} and id <> ${invocationId}`
    await waitFor(async () => (await logOf(id)).items.length === 1)
    expect((await logOf(id)).items.map((each) => each.id)).toEqual([invocationId])
  })
})
