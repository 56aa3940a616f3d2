import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type Permission, Webhook } from '@opsplane/contracts'
import { type ApiClient, type ApiReply, waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'

describe('the rights of webhooks', () => {
  let fixture: DispatcherFixture
  beforeAll(async () => {
    fixture = await startDispatcher()
  })
  afterAll(() => fixture?.stop())

  const withOnly = (...permissions: Permission[]): ApiClient =>
    fixture.service.as({
      ...fixture.principal,
      permissions: ['webhooks:read', 'webhooks:write', ...permissions],
    })
  const create = (api: ApiClient, changes: object) =>
    api.post('/webhooks', { name: 'w', url: fixture.endpoint('w'), events: ['incident.*'], ...changes })
  const missing = (reply: ApiReply) => {
    expect(reply.status).toBe(403)
    expect(reply.error()).toMatchObject({ code: 'forbidden', details: [{ code: 'permission_not_held' }] })
    return reply.error().details[0]?.params?.missing
  }

  it.each([
    ['*', 'audit:read'],
    ['audit.*', 'audit:read'],
    ['incident.*', 'itsm:read'],
    ['ci.retired', 'cmdb:read'],
    ['secret.*', 'secrets:read'],
    ['nobody_knows.*', 'audit:read'],
  ])('a subscription to %s requires %s', async (pattern, permission) => {
    expect(missing(await create(withOnly(), { events: [pattern] }))).toEqual([permission])
    expect((await create(withOnly(permission as Permission), { events: [pattern] })).status).toBe(201)
    expect((await create(withOnly('audit:read'), { events: [pattern] })).status).toBe(201)
  })

  it('the use of a secret requires secrets:use', async () => {
    const headers = { 'X-A': 'Bearer {{secrets.a}}' }
    expect(missing(await create(withOnly('itsm:read'), { headers }))).toEqual(['secrets:use'])
    expect((await create(withOnly('itsm:read', 'secrets:use'), { headers })).status).toBe(201)
  })

  it("a webhook's host is added to the secrets of its headers, and secrets it cannot use are rejected", async () => {
    const { settings, service, principal } = fixture
    const api = service.as(principal)
    const headers = { 'X-A': 'Bearer {{secrets.known}}' }
    const { id } = (await create(api, { headers })).data(Webhook)
    const host = new URL(fixture.endpoint('w')).hostname
    expect(settings.admitted.at(-1)).toEqual({ name: 'known', hosts: [host] })
    settings.unnameable.set('known', 'secret_host_not_allowed')
    const refused = { status: 422, details: [{ path: '/headers/X-A', code: 'secret_host_not_allowed' }] }
    const patch = async (body: object) => (await api.patch(`/webhooks/${id}`, body)).error()
    expect((await create(api, { headers })).error()).toMatchObject(refused)
    expect(await patch({ headers })).toMatchObject(refused)
    expect(await patch({ url: fixture.endpoint('elsewhere') })).toMatchObject(refused)
    for (const body of [{ status: 'paused' }, { name: 'renamed' }])
      expect((await api.patch(`/webhooks/${id}`, body)).status).toBe(200)
    expect(await patch({ status: 'active' })).toMatchObject(refused)
    settings.unnameable.clear()
  })

  it('a change of URL, events or headers requires every permission the webhook has ever needed', async () => {
    const headers = { 'X-A': '{{secrets.a}}' }
    const made = await create(withOnly('audit:read', 'secrets:use'), { events: ['*'], headers })
    const { id, required_permissions } = made.data(Webhook)
    expect(required_permissions).toEqual(['secrets:use', 'audit:read'])
    const stranger = withOnly('itsm:read')
    const patch = (api: ApiClient, body: object) => api.patch(`/webhooks/${id}`, body)
    expect(missing(await patch(stranger, { url: fixture.endpoint('elsewhere') }))).toEqual([
      'secrets:use',
      'audit:read',
    ])
    expect(missing(await patch(stranger, { events: ['incident.created'] }))).toEqual([
      'secrets:use',
      'audit:read',
    ])
    expect((await patch(stranger, { name: 'other', retries: 1, status: 'paused' })).status).toBe(200)
    expect(missing(await patch(stranger, { status: 'active' }))).toEqual(['secrets:use', 'audit:read'])
    const narrowed = await patch(withOnly('audit:read', 'secrets:use'), {
      events: ['incident.*'],
      headers: {},
    })
    // Earlier events can be resent to the webhook, so it keeps requiring the same rights.
    expect(narrowed.data(Webhook).required_permissions).toEqual(['audit:read', 'itsm:read'])
    expect(missing(await patch(stranger, { url: fixture.endpoint('elsewhere') }))).toEqual(['audit:read'])
  })

  it('a delivery shows its body only to users who may read the event', async () => {
    const webhook = await fixture.webhook('shown', { events: ['problem.*'] })
    await fixture.publish({ type: 'problem.created' })
    const [delivery] = await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
    const bodyFor = async (api: ApiClient) =>
      (await api.get(`/webhooks/${webhook.id}/deliveries/${delivery?.id}`)).text
    expect(await bodyFor(withOnly())).not.toContain('Checkout is down')
    expect(await bodyFor(withOnly('itsm:read'))).toContain('Checkout is down')
  })

  it('a webhook pauses when its owner may no longer read its events, until another user takes over', async () => {
    const owner = 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0A'
    const api = fixture.service.as({
      ...fixture.principal,
      userId: owner,
      permissions: ['webhooks:write', 'webhooks:read', 'itsm:read'],
    })
    const { id } = (await create(api, { url: fixture.endpoint('left'), events: ['incident.*'] })).data(
      Webhook,
    )
    const shown = async () => (await fixture.api.get(`/webhooks/${id}`)).data(Webhook)
    expect(await shown()).toMatchObject({ status: 'active', owner_id: owner })
    fixture.settings.rights.set(owner, ['webhooks:read', 'webhooks:write'])
    await fixture.publish({ type: 'role.updated', resource: { type: 'role', id: 'rol_1', displayName: 'r' } })
    await waitFor(async () => (await shown()).status === 'paused' || undefined)
    expect(await shown()).toMatchObject({ paused_reason: 'owner_rights' })
    expect(missing(await withOnly().patch(`/webhooks/${id}`, { status: 'active' }))).toEqual(['itsm:read'])
    const resumed = await fixture.api.patch(`/webhooks/${id}`, { status: 'active' })
    expect(resumed.data(Webhook)).toMatchObject({ status: 'active', owner_id: fixture.principal.userId })
  })

  it("every use of a secret is checked for the webhook's owner and host", async () => {
    const { secrets, refused, resolutions } = fixture.settings
    secrets.set('mine', 'the-value')
    refused.set('elsewhere', 'host_not_allowed')
    refused.set('unowned', 'permission_missing')
    const failed = async (name: string) => {
      const headers = { 'X-A': `{{secrets.${name}}}` }
      const webhook = await fixture.webhook(name, { retries: 0, headers })
      await fixture.publish({ type: `${name}.created` })
      const [delivery] = await createDeliveryReader(fixture, webhook.id).having('failed', 1)
      expect(fixture.requestsTo(name)).toEqual([])
      return delivery?.lastError
    }
    expect(await failed('elsewhere')).toEqual({
      kind: 'secret_refused',
      message: expect.stringMatching(/host/),
    })
    expect(await failed('unowned')).toEqual({
      kind: 'secret_refused',
      message: expect.stringMatching(/owner/),
    })
    const { id } = await fixture.webhook('mine', { headers: { 'X-A': '{{secrets.mine}}' } })
    await fixture.publish({ type: 'mine.created' })
    await createDeliveryReader(fixture, id).having('succeeded', 1)
    const { userId, workspaceId, environment } = fixture.principal
    const place = { workspaceId, environment, names: ['mine'] }
    expect(resolutions.at(-1)).toEqual({ ...place, userId, host: '127.0.0.1', consumer: `webhook/${id}` })
  })

  it('a webhook pauses when its owner is removed', async () => {
    const owner = 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0B'
    const api = fixture.service.as({ ...fixture.principal, userId: owner })
    const { id } = (await create(api, { url: fixture.endpoint('gone') })).data(Webhook)
    fixture.settings.rights.set(owner, null)
    await fixture.publish({
      type: 'user.deactivated',
      resource: { type: 'user', id: owner, displayName: 'Eve' },
    })
    const paused = await waitFor(async () => {
      const webhook = (await fixture.api.get(`/webhooks/${id}`)).data(Webhook)
      return webhook.status === 'paused' ? webhook : undefined
    })
    expect(paused.paused_reason).toBe('owner_rights')
  })
})
