import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type FakeSettings, startFakeSettings, waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'

let answer = () => {}
const answered = new Promise<void>((resolve) => {
  answer = resolve
})
let settings: FakeSettings
let fixture: DispatcherFixture
beforeAll(async () => {
  settings = await startFakeSettings({
    async '/internal/secrets/resolve'() {
      await answered
      return { values: { token: 'value' }, refused: {} }
    },
  })
  fixture = await startDispatcher({
    env: {
      WEBHOOK_LEASE_MS: '1000',
      SERVICE_URLS: JSON.stringify({ settings: settings.url, 'database-studio': settings.url }),
    },
  })
})
afterAll(async () => {
  answer()
  await fixture?.stop()
  await settings?.stop()
})

it('a delivery whose secrets arrive after its lease has expired is left to the next replica with a lease', async () => {
  const headers = { 'X-A': '{{secrets.token}}' }
  const webhook = await fixture.webhook('slow', { timeout_ms: 1_000, headers })
  const other = await fixture.webhook('other')
  await fixture.publish({ type: 'slow.created' })
  const leasedUntil = async () => {
    const [row] = await fixture.service.sql<{ due_at: string }[]>`
      select due_at from deliveries where webhook_id = ${webhook.id} and lease_owner is not null`
    return row?.due_at
  }
  const first = await waitFor(leasedUntil)
  await waitFor(async () => {
    // Wakes the poller.
    await fixture.api.patch(`/webhooks/${other.id}`, { name: 'Other' })
    const now = await leasedUntil()
    return now !== undefined && now !== first
  })
  answer()
  await createDeliveryReader(fixture, webhook.id).having('succeeded', 1)
  expect(fixture.requestsTo('slow')).toHaveLength(1)
})
