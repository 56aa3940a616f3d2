import { afterAll, beforeAll, it } from '@jest/globals'
import { waitUntilSettled } from '@opsplane/testing'
import { createDeliveryReader } from '../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher()
})
afterAll(() => fixture?.stop())

it('webhooks created after a rebuild of the table receive deliveries', async () => {
  await fixture.webhook('before')
  await fixture.publish({ type: 'after.created' })
  // Otherwise the event might be matched after the next webhook was created.
  await waitUntilSettled(fixture.service)
  await fixture.service.rebuild()
  const webhook = await fixture.webhook('after')
  await fixture.publish({ type: 'after.created' })
  await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
  await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'paused' })
  await fixture.publish({ type: 'after.created' })
  await createDeliveryReader(fixture, webhook.id).having('held', 1)
  await fixture.api.patch(`/webhooks/${webhook.id}`, { status: 'active' })
  await createDeliveryReader(fixture, webhook.id).having('succeeded', 2)
})
