import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Webhook } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher({ env: { WEBHOOK_ENDPOINT_CONCURRENCY: '1' } })
})
afterAll(() => fixture?.stop())

it('a webhook is changed even if the leases of its queued deliveries cannot be released', async () => {
  const { api, service } = fixture
  const webhook = await fixture.webhook('queued', {}, () => ({ status: 200, delayMs: 60_000 }))
  for (let n = 0; n < 3; n++) await fixture.publish({ type: 'queued.created' })
  const leased = () => service.sql`select from deliveries where lease_owner is not null`
  await waitFor(async () => (await leased()).length === 3)
  await service.sql`alter table deliveries add constraint stays_leased check (lease_owner is not null) not valid`
  const changed = (await api.patch(`/webhooks/${webhook.id}`, { name: 'Renamed' })).data(Webhook)
  expect(changed).toMatchObject({ name: 'Renamed', version: 2 })
  await service.sql`alter table deliveries drop constraint stays_leased`
})
