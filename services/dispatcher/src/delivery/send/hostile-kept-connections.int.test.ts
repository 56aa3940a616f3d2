import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { createDeliveryReader } from '../../fixture/deliveries.js'
import { type DispatcherFixture, startDispatcher } from '../../fixture/dispatcher-fixture.js'
import {
  type Behaviour,
  type HostileReceiver,
  head,
  hostileCertificates,
  onRequest,
  startHostileReceiver,
} from '../../fixture/hostile-receivers.js'

type Certificates = Awaited<ReturnType<typeof hostileCertificates>>

let certificates: Certificates
let fixture: DispatcherFixture
const receivers: HostileReceiver[] = []
beforeAll(async () => {
  certificates = await hostileCertificates()
  fixture = await startDispatcher({ trusted: certificates.trusted })
})
afterAll(async () => {
  await Promise.all(receivers.map((receiver) => receiver.stop()))
  await fixture?.stop()
})

const ok = head(200, { 'content-length': 0 })

/** A webhook with such an endpoint, and a first delivery that succeeded over a keep-alive connection. */
async function withKeptConnection(name: string, behave: Behaviour) {
  const receiver = await startHostileReceiver(behave, certificates.tls.valid)
  receivers.push(receiver)
  const settings = { url: receiver.url, retries: 1, retry_schedule: [1] }
  const webhook = await fixture.webhook(name, settings)
  const seen = createDeliveryReader(fixture, webhook.id)
  await fixture.publish({ type: `${name}.created` })
  await seen.having('succeeded', 1)
  return {
    ...{ receiver, webhook },
    /** Sends another delivery and returns the number of attempts of each. */
    async sendAnother() {
      await fixture.publish({ type: `${name}.created` })
      return (await seen.having('succeeded', 2)).map(({ attempts }) => attempts).sort()
    },
  }
}

describe('a connection reused from an earlier delivery', () => {
  it.each<[string, string, (socket: Parameters<Behaviour>[0], reset: () => void) => void]>([
    ['resetting', 'reset', (_socket, reset) => reset()],
    ['closing', 'closed', (socket) => socket.destroy()],
  ])('that is %s on reuse costs no attempt', async (name, _how, end) => {
    const endpoint = await withKeptConnection(
      name,
      onRequest((socket, count, reset) => (count === 1 ? void socket.write(ok) : end(socket, reset))),
    )
    expect(endpoint.receiver.open()).toBe(1)
    expect(await endpoint.sendAnother()).toEqual([1, 1])
    expect(endpoint.receiver.connections()).toBe(2)
  })

  it('that was closed while idle costs no attempt', async () => {
    let close = () => {}
    const endpoint = await withKeptConnection(
      'idle',
      onRequest((socket, _count, reset) => {
        close = reset
        socket.write(ok)
      }),
    )
    close()
    await waitFor(() => endpoint.receiver.open() === 0)
    expect(await endpoint.sendAnother()).toEqual([1, 1])
    expect(endpoint.receiver.connections()).toBe(2)
  })

  it('whose peer disappeared silently costs the timeout, and the retry opens a new connection', async () => {
    const endpoint = await withKeptConnection(
      'dead',
      onRequest((socket, count) => void (count === 1 && socket.write(ok))),
    )
    await fixture.api.patch(`/webhooks/${endpoint.webhook.id}`, { timeout_ms: 5_000 })
    expect(await endpoint.sendAnother()).toEqual([1, 2])
    expect(endpoint.receiver.connections()).toBe(2)
  })
})

describe('an endpoint that resets every request', () => {
  it('receives one connection per attempt', async () => {
    const receiver = await startHostileReceiver(
      onRequest((_socket, _count, reset) => reset()),
      certificates.tls.valid,
    )
    receivers.push(receiver)
    const webhook = await fixture.webhook('resets', { url: receiver.url, retries: 1, retry_schedule: [1] })
    await fixture.publish({ type: 'resets.created' })
    await createDeliveryReader(fixture, webhook.id).having('failed', 1)
    expect(receiver.connections()).toBe(2)
  })
})
