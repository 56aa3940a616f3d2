import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Me, Token, TokenCreated, VerifiedToken, WorkspaceAccess } from '@opsplane/contracts'
import { type ApiClient, type EventRecorder, recordEvents, waitFor } from '@opsplane/testing'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'

const minuteMs = 60_000
let settings: Settings
let recorder: EventRecorder
let ada: Owner
let api: ApiClient

beforeAll(async () => {
  settings = await startSettings()
  recorder = await recordEvents(settings.service.natsPrefix)
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, { workspace: 'acme' })
})
afterAll(async () => {
  await recorder?.stop()
  await settings?.stop()
})

const inAcme = { workspace: 'acme' }
const create = async (fields: object = {}, client = api) => {
  const body = { name: 'CI', scopes: ['itsm:read'], ...fields }
  const { token, ...key } = (await client.post('/auth/tokens', body)).data(TokenCreated)
  return { ...key, token: token ?? '' }
}
const rotate = async (client: ApiClient, body: object = {}) => {
  const { token, ...key } = (await client.post('/auth/tokens/rotate', body)).data(TokenCreated)
  return { ...key, token: token ?? '' }
}
const principalOf = async (token: string) =>
  (await settings.verify(token, inAcme)).data(VerifiedToken).principal
const codeOf = async (token: string, place: object = inAcme) =>
  (await settings.verify(token, place)).error().code
const listed = async (id: string) =>
  (await api.get('/auth/tokens?limit=200')).page(Token).items.find((key) => key.id === id)

describe('creating a key', () => {
  it('shows the key once, and the key permits what was granted', async () => {
    const key = await create({ scopes: ['itsm:read', 'itsm:read', 'audit:read'] })
    expect(key.token).toMatch(/^ops_key_[0-9A-Z]{26}_[0-9A-Za-z]{38}$/)
    expect(key).toMatchObject({ scopes: ['itsm:read', 'audit:read'], status: 'active', version: 1 })
    expect(await principalOf(key.token)).toEqual({
      actor: { id: key.id, name: 'CI', type: 'api_token' },
      userId: ada.userId,
      tokenId: key.id,
      workspaceId: ada.workspaceId,
      workspaceSlug: 'acme',
      environment: 'production',
      role: 'owner',
      email: 'acme@example.com',
      permissions: ['audit:read', 'itsm:read'],
    })
    expect(JSON.stringify(await listed(key.id))).not.toContain(key.token.slice(-38))
  })

  it('is repeated by Idempotency-Key without the key itself', async () => {
    const send = () =>
      api.post('/auth/tokens', { name: 'Once', scopes: ['itsm:read'] }, { 'idempotency-key': 'make-one' })
    const first = (await send()).data(TokenCreated)
    const again = await send()
    expect(again.status).toBe(201)
    expect(again.data(TokenCreated)).toEqual({ ...first, token: null })
  })

  it('rejects rights that the caller does not have', async () => {
    const key = await create({ scopes: ['tokens:manage', 'itsm:read'], environments: ['staging'] })
    const narrow = await settings.as(key.token, { ...inAcme, environment: 'staging' })
    const wider = { name: 'Wider', scopes: ['secrets:read'], environments: ['staging'] }
    expect((await narrow.post('/auth/tokens', wider)).error().code).toBe('insufficient_scope')
    const elsewhere = { name: 'Elsewhere', scopes: ['itsm:read'] }
    expect((await narrow.post('/auth/tokens', elsewhere)).error().code).toBe('environment_forbidden')
    expect((await create({ environments: ['staging'] }, narrow)).environments).toEqual(['staging'])

    const reader = await settings.as((await create()).token, inAcme)
    expect((await reader.post('/auth/tokens', elsewhere)).error().code).toBe('insufficient_scope')
    const past = { ...elsewhere, expiresAt: '2020-01-01T00:00:00Z' }
    expect((await api.post('/auth/tokens', past)).error().details[0]?.path).toBe('/expiresAt')
  })
})

describe('a key', () => {
  it('is valid only in its environments', async () => {
    const { token } = await create({ environments: ['staging', 'development'] })
    expect(await codeOf(token)).toBe('environment_forbidden')
    expect((await settings.verify(token, { ...inAcme, environment: 'staging' })).status).toBe(200)
  })

  it('is valid only in its workspace, whether another workspace exists or not', async () => {
    await settings.owner('other')
    const { token } = await create()
    expect(await codeOf(token, { workspace: 'other' })).toBe('workspace_forbidden')
    expect(await codeOf(token, { workspace: 'nowhere' })).toBe('workspace_forbidden')
    const outside = await settings.as(token)
    expect((await outside.get('/workspaces')).page(WorkspaceAccess).items.map(({ slug }) => slug)).toEqual([
      'acme',
    ])
    const me = (await outside.get('/auth/me')).data(Me)
    expect(me).toMatchObject({ credential: { kind: 'api_key', name: 'CI' }, workspace: null })
    expect((await outside.post('/auth/logout')).error().code).toBe('forbidden')
  })

  it('expires at its expiry time', async () => {
    const expiresAt = new Date(Date.parse(settings.clock.now()) + minuteMs).toISOString()
    const { token } = await create({ expiresAt })
    expect((await settings.verify(token, inAcme)).data(VerifiedToken).expiresAt).toBe(expiresAt)
    settings.clock.advance(minuteMs)
    expect(await codeOf(token)).toBe('token_expired')
  })

  it('records its last use once a minute, and not in the event log', async () => {
    const key = await create()
    expect((await listed(key.id))?.lastUsedAt).toBeNull()
    const first = settings.clock.now()
    await principalOf(key.token)
    settings.clock.advance(minuteMs - 1)
    await principalOf(key.token)
    expect((await listed(key.id))?.lastUsedAt).toBe(first)
    settings.clock.advance(1)
    await principalOf(key.token)
    expect(await listed(key.id)).toMatchObject({ lastUsedAt: settings.clock.now(), version: 1 })
  })

  it('is revoked permanently, and repeating the revocation changes nothing', async () => {
    const key = await create()
    const revoke = () => api.send('DELETE', `/auth/tokens/${key.id}`)
    expect((await revoke()).data(Token)).toMatchObject({ status: 'revoked', revocationReason: 'requested' })
    expect((await revoke()).data(Token).version).toBe(2)
    expect(await codeOf(key.token)).toBe('invalid_token')
    expect((await api.post('/auth/tokens/rotate', { id: key.id })).error().code).toBe(
      'invalid_state_transition',
    )
  })

  it('is invalid with another secret', async () => {
    const [one, two] = [await create(), await create()]
    expect(await codeOf(one.token.slice(0, 35) + two.token.slice(35))).toBe('invalid_token')
  })
})

describe('rotating a key', () => {
  it('leaves both keys valid for the overlap, then only the successor', async () => {
    const old = await create({ environments: ['production'] })
    const next = await rotate(await settings.as(old.token, inAcme))
    expect(next).toMatchObject({
      predecessorId: old.id,
      name: 'CI',
      scopes: ['itsm:read'],
      environments: ['production'],
    })
    expect(await listed(old.id)).toMatchObject({ status: 'rotated', successorId: next.id })
    const validUntil = new Date(Date.parse(settings.clock.now()) + minuteMs).toISOString()
    expect((await settings.verify(old.token, inAcme)).data(VerifiedToken).expiresAt).toBe(validUntil)
    settings.clock.advance(minuteMs)
    expect((await principalOf(next.token)).tokenId).toBe(next.id)
  })

  it('is refused again during the overlap', async () => {
    const old = await create()
    const client = await settings.as(old.token, inAcme)
    const replies = await Promise.all([1, 2, 3].map(() => client.post('/auth/tokens/rotate', {})))
    expect(replies.map((reply) => reply.status).sort()).toEqual([201, 409, 409])
  })

  it('revokes every successor of a key that was used after its overlap', async () => {
    const first = await create()
    const second = await rotate(await settings.as(first.token, inAcme))
    const third = await rotate(api, { id: second.id })
    settings.clock.advance(minuteMs)
    expect((await settings.verify(third.token, inAcme)).status).toBe(200)

    const uses = await Promise.all([codeOf(first.token), codeOf(first.token), codeOf(first.token)])
    expect(uses).toEqual(['invalid_token', 'invalid_token', 'invalid_token'])
    expect(await codeOf(third.token)).toBe('invalid_token')
    expect(await listed(third.id)).toMatchObject({ status: 'revoked', revocationReason: 'reuse_detected' })

    const published = await waitFor(() => {
      const ids = [first.id, second.id, third.id]
      const events = recorder.published.filter(({ event }) => ids.includes(event.resource.id))
      return events.length >= 8 && events.map(({ event }) => event)
    })
    expect(published.map(({ type, resource }) => `${type} ${resource.id}`).sort()).toEqual(
      [
        ...[first, second, third].map(({ id }) => `token.created ${id}`),
        ...[first, second].map(({ id }) => `token.rotated ${id}`),
        `token.reuse_detected ${first.id}`,
        ...[second, third].map(({ id }) => `token.revoked ${id}`),
      ].sort(),
    )
    const detected = published.find(({ type }) => type === 'token.reuse_detected')
    expect(detected).toMatchObject({ actor: { type: 'system' }, data: { successorId: second.id } })
  })

  it('requires, for another key, the right to manage keys and every right of that key', async () => {
    const target = await create({ scopes: ['secrets:read'] })
    const reader = await settings.as((await create()).token, inAcme)
    expect((await reader.post('/auth/tokens/rotate', { id: target.id })).error().code).toBe(
      'insufficient_scope',
    )
    const manager = await settings.as((await create({ scopes: ['tokens:manage'] })).token, inAcme)
    expect((await manager.post('/auth/tokens/rotate', { id: target.id })).error().code).toBe(
      'insufficient_scope',
    )
    expect((await settings.verify(target.token, inAcme)).status).toBe(200)
    expect((await api.post('/auth/tokens/rotate', {})).error().details[0]?.path).toBe('/id')
  })
})
