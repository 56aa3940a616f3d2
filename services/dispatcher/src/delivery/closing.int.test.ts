import { afterEach, describe, expect, it } from '@jest/globals'
import type { RunningService } from '@opsplane/runtime'
import { startTcpProxy, type TcpProxy, waitFor } from '@opsplane/testing'
import { type DispatcherFixture, startDispatcher } from '../fixture/dispatcher-fixture.js'
import { dispatcher } from '../service.js'

let proxy: TcpProxy
let running: RunningService
let fixture: DispatcherFixture
const start = async ({ isAway = false } = {}) => {
  fixture = await startDispatcher({
    async start(env) {
      const url = new URL(env.DATABASE_URL ?? '')
      proxy = await startTcpProxy(Number(url.port))
      if (isAway) proxy.cut()
      url.port = String(proxy.port)
      const config = dispatcher.loadConfig({
        ...env,
        DATABASE_URL: url.href,
        WEBHOOK_ENDPOINT_CONCURRENCY: '1',
      })
      running = await dispatcher.start(config, { matchesSomeEvent: () => true })
      return running
    },
  })
}
afterEach(async () => {
  await fixture?.stop().catch(() => {})
  await proxy?.close()
})

describe('a dispatcher that stops while Postgres is unavailable', () => {
  it('stops although the result of an attempt in flight cannot be recorded', async () => {
    await start()
    // With a rate limit, the attempt starts after its row is committed.
    await fixture.webhook('recording', { rate_limit_per_second: 1_000 }, () => {
      proxy.cut()
      return { status: 503 }
    })
    await fixture.publish({ type: 'recording.created' })
    await waitFor(() => fixture.requestsTo('recording').length === 1)
    await expect(running.stop()).resolves.toBeUndefined()
  })

  it('stops although the leases of queued deliveries cannot be released', async () => {
    await start()
    await fixture.webhook('queued', {}, () => ({ status: 200, delayMs: 60_000 }))
    for (let n = 0; n < 3; n++) await fixture.publish({ type: 'queued.created' })
    const leased = () => fixture.service.sql`select from deliveries where lease_owner is not null`
    await waitFor(async () => (await leased()).length === 3)
    proxy.cut()
    await expect(running.stop()).resolves.toBeUndefined()
  })
})

describe('a dispatcher that has never reached Postgres', () => {
  it('stops', async () => {
    await start({ isAway: true })
    await expect(running.stop()).resolves.toBeUndefined()
  })
})
