import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { createMetrics } from '@opsplane/telemetry'
import { waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'
import { createPausedBacklog } from '../../fixture/paused-backlog.js'
import { registerQueueMetrics } from '../measure/queue-metrics.js'

let fixture: DispatcherFixture
beforeEach(async () => {
  fixture = await startDispatcher({
    env: { WEBHOOK_ENDPOINT_CONCURRENCY: '1', WEBHOOK_DRAIN_PER_SECOND: '1' },
  })
})
afterEach(() => fixture?.stop())

/** Current metric values if these webhooks are skipped. */
async function valuesOf(passedOver: string[]): Promise<(name: string) => number> {
  const metrics = createMetrics({ service: 'dispatcher' })
  registerQueueMetrics(metrics, { database: fixture.service, passedOver: () => passedOver })
  const text = await metrics.text()
  return (name) => Number(new RegExp(`^${name}[{,].* (.*)$`, 'm').exec(text)?.[1])
}

test('deliveries behind a silent endpoint count as waiting for their webhook, and none as due for the platform', async () => {
  const silent = await fixture.webhook('silent', { timeout_ms: 30_000 }, () => new Promise(() => {}))
  for (let n = 0; n < 40; n++) await fixture.publish({ type: 'silent.created' })
  await createDeliveryReader(fixture, silent.id).having('pending', 40)
  await waitFor(async () => (await valuesOf([silent.id]))('opsplane_webhook_queue_age_seconds') > 0)

  const own = await valuesOf([silent.id])
  expect(own('opsplane_deliveries_due')).toBe(0)
  expect(own('opsplane_deliveries_oldest_due_age_seconds')).toBe(0)
  // If its webhook were not skipped, the delivery would count as waiting for the platform.
  const due = await valuesOf([])
  expect(due('opsplane_deliveries_due')).toBeGreaterThan(0)
  expect(due('opsplane_deliveries_oldest_due_age_seconds')).toBeGreaterThan(0)
})

test('the backlog of a pause is sent at its own pace, and does not count as late', async () => {
  const paused = await createPausedBacklog(fixture, 'paused', 50)
  expect((await valuesOf([]))('opsplane_webhooks_paused{reason="user"')).toBe(1)
  await fixture.api.patch(`/webhooks/${paused.id}`, { status: 'active' })
  await waitFor(async () => {
    const now = await valuesOf([])
    return now('opsplane_webhook_queue_age_seconds') > 0 && now('opsplane_deliveries_due') === 0
  })
})
