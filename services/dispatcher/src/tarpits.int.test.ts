import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { testPrincipal, waitFor } from '@opsplane/testing'
import { type DispatcherFixture, startDispatcher } from './fixture/dispatcher-fixture.js'

/**
 * With the number used by `npm run test:long`, the webhooks would take all places, first
 * attempts and slow ones, without shares.
 */
const tarpits = Number(process.env.TEST_TARPITS ?? 64)
const isLong = tarpits > 1_000
const shares = isLong ? { attempts: 256, slowAttempts: 512 } : { attempts: 8, slowAttempts: 16 }
const open = shares.attempts + shares.slowAttempts
const events = 20

let fixture: DispatcherFixture
beforeAll(async () => {
  fixture = await startDispatcher({
    env: {
      LIMITS: JSON.stringify({ ...shares, webhooks: 0 }),
      ...(!isLong && { WEBHOOK_CONCURRENCY: '16' }),
    },
  })
})
afterAll(() => fixture?.stop())

/** Creates sixteen at a time. */
async function makeTarpits(): Promise<void> {
  const url = fixture.endpoint('tarpit', () => new Promise(() => undefined))
  let next = 0
  const maker = async () => {
    while (next < tarpits) {
      next++
      await fixture.webhook(`tarpit-${next}`, { url, events: ['tarpit.*'], timeout_ms: 60_000 })
    }
  }
  await Promise.all(Array.from({ length: 16 }, maker))
}

it('continues to deliver for other workspaces while one has many endpoints that never answer', async () => {
  await makeTarpits()
  const other = newId('workspace')
  const body = { name: 'Quick', url: fixture.endpoint('quick'), events: ['incident.*'] }
  const api = fixture.service.as(testPrincipal({ workspaceId: other }))
  expect((await api.post('/webhooks', body)).status).toBe(201)

  await fixture.publish({ type: 'tarpit.created' })
  // This many sockets are open; further first attempts wait for one of them.
  const started = () => fixture.requestsTo('tarpit').length
  await waitFor(() => started() >= open)
  for (let at = 0; at < events; at++) await fixture.publish({ workspaceId: other })
  await waitFor(() => fixture.requestsTo('quick').length === events)
  // With thousands, the first attempts may have timed out and freed their places.
  if (isLong) expect(started()).toBeLessThan(tarpits)
  else expect(started()).toBe(open)
})
