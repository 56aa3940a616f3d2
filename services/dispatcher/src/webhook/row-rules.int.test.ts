import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { newId, Webhook } from '@opsplane/contracts'
import { testPrincipal, waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'

const rule = { environment: 'production' as const, table: 'assets', role: 'agent' }

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
})
afterAll(() => fixture?.stop())
beforeEach(() => {
  fixture.settings.readRules = [rule]
})

const as = (role: string | undefined, more: Parameters<typeof testPrincipal>[0] = {}) => {
  const { role: _, ...principal } = testPrincipal({
    workspaceId: fixture.principal.workspaceId ?? '',
    ...more,
  })
  return fixture.service.as(role === undefined ? principal : { ...principal, role })
}
const create = (role: string | undefined, body: object, more: Parameters<typeof testPrincipal>[0] = {}) =>
  as(role, more).post('/webhooks', { name: 'records', url: fixture.endpoint('records'), ...body })
const refused = { code: 'forbidden', details: [{ code: 'row_rule', path: '/events' }] }
const of = (condition: unknown) => ({ 'data.tableSlug': condition })

describe('a user with a row rule on a table', () => {
  it.each<[object]>([
    [{ events: ['record.*'] }],
    [{ events: ['incident.created', 'record.deleted'] }],
    [{ events: ['*'] }],
    [{ events: ['audit.*'] }],
    [{ events: ['record.*'], filter: of('assets') }],
    [{ events: ['record.*'], filter: of({ in: ['orders', 'assets'] }) }],
    [{ events: ['record.*'], filter: of({ ne: 'assets' }) }],
  ])('cannot subscribe a webhook to its events: %j', async (body) => {
    const reply = await create('agent', body)
    expect(reply.error()).toMatchObject(refused)
    expect(reply.error().details?.[0]?.params).toEqual({ rules: [{ table: 'assets', role: 'agent' }] })
  })

  it.each<[string, string, object]>([
    ['other events', 'agent', { events: ['incident.*', 'table.*'] }],
    ['events of other tables', 'agent', { events: ['record.*'], filter: of({ in: ['orders'] }) }],
    ['all of them in another role', 'developer', { events: ['*'] }],
  ])('can subscribe a webhook to %s', async (_what, role, body) => {
    expect((await create(role, body)).status).toBe(201)
  })

  it('is rejected also as the caller behind another principal, as is a user without a role', async () => {
    const body = { events: ['record.*'] }
    const { actor, userId } = testPrincipal()
    const callers = [{ actor, userId, role: 'agent' }]
    expect((await create('developer', body, { callers })).error()).toMatchObject(refused)
    expect((await create(undefined, body)).error()).toMatchObject(refused)
  })

  it("cannot change or resume a webhook so that it receives the table's events", async () => {
    const orders = { events: ['record.*'], filter: of('orders') }
    const { id } = (await create('developer', { ...orders, status: 'paused' })).data(Webhook)
    const patch = (role: string, body: object) => as(role).patch(`/webhooks/${id}`, body)
    for (const body of [{ filter: null }, { filter: of('assets') }, { events: ['*'], filter: null }])
      expect((await patch('agent', body)).error()).toMatchObject(refused)
    expect((await patch('agent', { status: 'active' })).status).toBe(200)
    expect((await patch('developer', { filter: null, status: 'paused' })).status).toBe(200)
    expect((await patch('agent', { status: 'active' })).error()).toMatchObject(refused)
    expect((await patch('agent', { retries: 1 })).status).toBe(200)
  })

  it('cannot read a delivery of its events', async () => {
    const webhook = await fixture.webhook('shown', { events: ['record.*'] })
    const after = { id: 'rec_1', tableSlug: 'assets', secret: 'hidden' }
    const data = { before: null, after, changes: ['secret'] }
    await fixture.publish({ type: 'record.created', data })
    const [delivery] = await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
    const read = async (role: string) =>
      (await as(role).get(`/webhooks/${webhook.id}/deliveries/${delivery?.id}`)).text
    expect(await read('developer')).toContain('hidden')
    expect(await read('agent')).not.toContain('hidden')
  })
})

it.each([
  ['table.updated', () => fixture.settings.readRules.push({ ...rule, role: 'developer' })],
  ['user.role_changed', (userId: string) => fixture.settings.roles.set(userId, 'agent')],
] as const)('a webhook pauses when row rules begin to hide its events: %s', async (type, change) => {
  const userId = newId('user')
  fixture.settings.roles.set(userId, 'developer')
  const owner = { userId }
  const made = (body: object) => create('developer', { events: ['record.*'], ...body }, owner)
  const { id } = (await made({})).data(Webhook)
  const other = (await made({ filter: of('orders') })).data(Webhook)
  change(userId)
  const resource = { type: type.split('.')[0] ?? '', id: userId, displayName: 'Changed' }
  await fixture.publish({ type, resource })
  const webhook = async (each: string) => (await fixture.api.get(`/webhooks/${each}`)).data(Webhook)
  await waitFor(async () => (await webhook(id)).status === 'paused')
  expect(await webhook(id)).toMatchObject({ paused_reason: 'owner_rights' })
  expect((await webhook(other.id)).status).toBe('active')
})
