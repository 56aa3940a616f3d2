import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, test } from '@jest/globals'
import { type Receiver, type ReceiverOptions, startReceiver } from './https-receiver.js'

describe('startReceiver', () => {
  let receiver: Receiver | undefined

  afterEach(async () => {
    await receiver?.stop()
    receiver = undefined
  })

  const start = async (options?: ReceiverOptions) => {
    receiver = await startReceiver(options)
    return receiver
  }

  test('serves HTTPS with a certificate that clients can trust, and records the raw body', async () => {
    const { url, ca, received } = await start()

    const response = await post(`${url}/hook?a=1`, ca, '{ "spaces":  "kept" }')

    expect(response.status).toBe(200)
    expect(received()).toMatchObject([
      { method: 'POST', path: '/hook?a=1', headers: { 'x-test': 'yes' }, receivedAt: expect.any(Date) },
    ])
    expect(received()[0]?.rawBody.toString()).toBe('{ "spaces":  "kept" }')
  })

  test('answers as configured', async () => {
    const { url, ca } = await start({
      respond: ({ path }) => ({
        status: path === '/gone' ? 410 : 503,
        headers: { 'retry-after': '7' },
        body: 'no',
      }),
    })

    expect(await post(`${url}/gone`, ca, '')).toEqual({ status: 410, retryAfter: '7', body: 'no' })
    expect(await post(`${url}/busy`, ca, '')).toMatchObject({ status: 503 })
  })

  test('is rejected by a client that does not trust its certificate', async () => {
    const { url, received } = await start()

    await expect(post(url, undefined, '')).rejects.toThrow(/self-signed certificate/)
    expect(received()).toEqual([])
  })

  test('waits for later requests', async () => {
    const { url, waitForRequests } = await start({ tls: false })
    const waiting = waitForRequests(2)

    await fetch(`${url}/one`)
    await fetch(`${url}/two`)

    expect((await waiting).map(({ path }) => path)).toEqual(['/one', '/two'])
  })

  test('stops during a slow response', async () => {
    const { url, waitForRequests, stop } = await start({
      tls: false,
      respond: () => ({ status: 200, delayMs: 60_000 }),
    })
    const pending = fetch(url).catch(() => 'cut off')
    await waitForRequests(1)
    receiver = undefined

    await stop()

    expect(await pending).toBe('cut off')
  })
})

async function post(url: string, ca: string | undefined, body: string) {
  const sending = request(url, { method: 'POST', headers: { 'x-test': 'yes' }, ...(ca && { ca }) })
  sending.end(body)
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  return {
    status: response.statusCode,
    retryAfter: response.headers['retry-after'],
    body: await text(response),
  }
}
