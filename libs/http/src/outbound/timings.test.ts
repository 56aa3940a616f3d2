import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { generate } from 'selfsigned'
import { createOutbound, type OutboundOptions, type OutboundRequest } from './outbound.js'
import type { OutboundTimings } from './timings.js'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => server.close())
  return (server.address() as AddressInfo).port
}

/** The timings of a request to a URL, with or without a response. */
function measuring(options: Partial<OutboundOptions> = {}) {
  const guard = createOutbound({
    ...{ allowedCidrs: ['127.0.0.0/8'], allowHttp: true, connectionsPerOrigin: 1 },
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ...options,
  })
  closers.push(() => guard.close())
  return async (url: string, rest: Partial<OutboundRequest> = {}) => {
    const measured: OutboundTimings[] = []
    const request: OutboundRequest = {
      ...{ url, method: 'POST', headers: {}, body: '{}', timeoutMs: 30_000, maxResponseBytes: 1024 },
      measured: (timings) => measured.push(timings),
      ...rest,
    }
    await guard.request(request).catch(() => {})
    expect(measured).toHaveLength(1)
    return measured[0]
  }
}

const some = expect.any(Number)

describe('the timings of a request', () => {
  it('contain every phase for a new TLS connection by name, and only the response for a reused connection', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'hooks.example' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: 'hooks.example' }] }],
    })
    const port = await listen(createHttpsServer({ key, cert }, (_request, response) => response.end('ok')))
    const measure = measuring({ ca: cert })
    const url = `https://hooks.example:${port}/`
    expect(await measure(url)).toEqual({
      ...{ dnsMs: some, connectMs: some, tlsMs: some, firstByteMs: some, totalMs: some },
      isConnectionReused: false,
    })
    expect(await measure(url)).toEqual({
      ...{ dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: some, totalMs: some },
      isConnectionReused: true,
    })
  })

  it.each<[string, string, (port: number) => string, Partial<Record<keyof OutboundTimings, unknown>>]>([
    [
      'an address by plain HTTP',
      'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
      (port) => `http://127.0.0.1:${port}/`,
      { connectMs: some, firstByteMs: some, isConnectionReused: false },
    ],
    [
      'an endpoint that hangs up',
      '',
      (port) => `http://hooks.example:${port}/`,
      { dnsMs: some, connectMs: some, isConnectionReused: false },
    ],
    [
      'an endpoint that knows no TLS',
      'HTTP/1.1 400 Bad Request\r\n\r\n',
      (port) => `https://hooks.example:${port}/`,
      { dnsMs: some, connectMs: some },
    ],
  ])('contain the completed phases for %s', async (_, answer, urlOf, expected) => {
    const port = await listen(
      createServer((socket) => {
        socket.on('error', () => {})
        socket.once('data', () => socket.end(answer))
      }),
    )
    const nothing = { dnsMs: null, connectMs: null, tlsMs: null, firstByteMs: null, isConnectionReused: null }
    expect(await measuring()(urlOf(port))).toEqual({ ...nothing, totalMs: some, ...expected })
  })

  it('contain only the DNS phase for a name that does not resolve', async () => {
    const measure = measuring({ resolve: () => Promise.reject(new Error('no such name')) })
    expect(await measure('http://nowhere.example/')).toMatchObject({
      ...{ dnsMs: some, connectMs: null, firstByteMs: null, isConnectionReused: null },
    })
  })
})
