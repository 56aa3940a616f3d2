import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { testPrincipal, waitFor } from '@opsplane/testing'
import { type DispatcherFixture, startDispatcher } from './fixture/dispatcher-fixture.js'

/** Without shares so many as `npm run test:long` makes would have all places there are, first attempts and slow ones. */
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

it('goes on delivering for others while one workspace has endpoints that never answer, however many', async () => {
  const url = fixture.endpoint('tarpit', () => new Promise(() => undefined))
  for (let at = 0; at < tarpits; at++)
    await fixture.webhook(`tarpit-${at}`, { url, events: ['tarpit.*'], timeout_ms: 60_000 })
  const other = newId('workspace')
  const quick = { name: 'Quick', url: fixture.endpoint('quick'), events: ['incident.*'] }
  expect(
    (await fixture.service.as(testPrincipal({ workspaceId: other })).post('/webhooks', quick)).status,
  ).toBe(201)

  await fixture.publish({ type: 'tarpit.created' })
  // So many sockets are open, and the first attempts of the others wait for one of them.
  await waitFor(() => fixture.requestsTo('tarpit').length === open)
  for (let at = 0; at < events; at++) await fixture.publish({ workspaceId: other })
  await waitFor(() => fixture.requestsTo('quick').length === events)
  expect(fixture.requestsTo('tarpit')).toHaveLength(open)
})
