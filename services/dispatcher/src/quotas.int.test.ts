import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { type ApiClient, testPrincipal, waitFor } from '@opsplane/testing'
import { type DispatcherFixture, startDispatcher } from './fixture/dispatcher-fixture.js'

const big = newId('workspace')
let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher({
    env: {
      LIMITS: JSON.stringify({ webhooks: 2, topicBytesPerDay: 5_000, egressBytesPerMinute: 4_000 }),
      WORKSPACE_LIMITS: JSON.stringify({ [big]: { webhooks: 3, topicBytesPerDay: 0 } }),
    },
  })
})
afterAll(() => fixture?.stop())

const as = (workspaceId: string) => fixture.service.as(testPrincipal({ workspaceId }))
const createWebhook = async (api: ApiClient) => {
  const body = { name: 'Pager', url: 'https://127.0.0.1:9443/', events: ['incident.*'] }
  return api.post('/webhooks', body)
}
const publish = (api: ApiClient) =>
  api.post('/events/topics/builds/publish', { type: 'build', payload: { text: 'x'.repeat(2_000) } })

it("limits the webhooks of a workspace, to the default or to the operator's limit for that workspace", async () => {
  const api = as(newId('workspace'))
  for (const status of [201, 201, 422]) expect((await createWebhook(api)).status).toBe(status)
  const refused = (await createWebhook(api)).error()
  expect(refused).toMatchObject({
    code: 'quota_exceeded',
    details: [{ code: 'limit_reached', params: { limit: 'webhooks', max: 2 } }],
  })
  for (const status of [201, 201, 201, 422]) expect((await createWebhook(as(big))).status).toBe(status)
})

it('limits the bytes a workspace publishes to topics', async () => {
  const api = as(newId('workspace'))
  for (const status of [201, 201, 429]) expect((await publish(api)).status).toBe(status)
  expect((await publish(api)).error()).toMatchObject({
    code: 'rate_limited',
    details: [{ params: { limit: 'topicBytesPerDay', max: 5_000 } }],
  })
  expect((await publish(as(newId('workspace')))).status).toBe(201)
  for (let count = 0; count < 5; count++) expect((await publish(as(big))).status).toBe(201)
})

it('limits the bytes sent for a workspace and sends the rest later, without delaying other workspaces', async () => {
  const count = 20
  await fixture.webhook('mine', { events: ['incident.*'] })
  const other = newId('workspace')
  const body = { name: 'Theirs', url: fixture.endpoint('theirs'), events: ['incident.*'] }
  expect((await as(other).post('/webhooks', body)).status).toBe(201)
  const after = { id: newId('incident'), title: 'x'.repeat(3_000) }
  for (let at = 0; at < count; at++)
    await fixture.publish({ data: { before: null, after, changes: ['title'] } })
  await fixture.publish({ workspaceId: other })
  const sent = () => fixture.requestsTo('mine').length
  await waitFor(() => fixture.requestsTo('theirs').length === 1 && sent() > 0)
  const waiting = () => fixture.service.sql`
    select 1 from deliveries
    where workspace_id <> ${other} and attempts = 0 and status = 'pending' and lease_owner is null and due_at is not null`
  await waitFor(async () => (await waiting()).length > count / 2)
  expect(sent()).toBeLessThan(count / 2)
})
