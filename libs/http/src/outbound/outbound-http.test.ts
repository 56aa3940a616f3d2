import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from '@jest/globals'
import { generate } from 'selfsigned'
import { createOutbound, type OutboundOptions, type OutboundRequest } from './outbound.js'
import { OutboundError } from './outbound-error.js'
import { createOutboundHttp, type OutboundHttp } from './outbound-http.js'

const closers: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function listen(server: Server): Promise<{ port: number; connections(): number }> {
  const sockets = new Set<Socket>()
  let connections = 0
  server.on('connection', (socket: Socket) => {
    connections++
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, connections: () => connections }
}
const serve = (listener: RequestListener) => listen(createHttpServer(listener))

function client(options: Partial<OutboundOptions> = {}): OutboundHttp {
  const outbound = createOutbound({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true, ...options })
  const http = createOutboundHttp(outbound)
  closers.push(async () => {
    http.close()
    await outbound.close()
  })
  return http
}

const asked = (url: string, rest: Partial<OutboundRequest> = {}): OutboundRequest => ({
  ...{ url, method: 'GET', headers: {}, timeoutMs: 10_000, maxResponseBytes: 1_000, ...rest },
})

describe('HTTP through the outbound guard', () => {
  it('sends method, headers and body unchanged, and returns the response', async () => {
    const { port } = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (text) => {
        response.writeHead(201, { 'x-seen': `${request.method} ${request.url} ${request.headers['x-a']}` })
        response.end(text)
      })
    })
    const body = JSON.stringify({ a: 'ä' })
    const request = asked(`http://127.0.0.1:${port}/p?q=1`, { method: 'POST', headers: { 'X-A': 'b' }, body })
    const answer = await client().request(request)
    expect(answer).toMatchObject({ status: 201, truncated: false, headers: { 'x-seen': 'POST /p?q=1 b' } })
    expect(answer.body.toString()).toBe(body)
  })

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'])(
    'sends %s without a body',
    async (method) => {
      const { port } = await serve((request, response) => response.end(request.method))
      const answer = await client().request(asked(`http://127.0.0.1:${port}/`, { method }))
      expect(answer.body.toString()).toBe(method === 'HEAD' ? '' : method)
    },
  )

  it('verifies the TLS certificate of the server', async () => {
    const pems = await generate([{ name: 'commonName', value: 'localhost' }], {
      algorithm: 'sha256',
      extensions: [
        { name: 'basicConstraints', cA: true },
        { name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] },
      ],
    })
    const server = createHttpsServer({ key: pems.private, cert: pems.cert }, (_, response) =>
      response.end('safe'),
    )
    const { port } = await listen(server)
    const request = asked(`https://127.0.0.1:${port}/`)
    expect((await client({ ca: pems.cert }).request(request)).body.toString()).toBe('safe')
    await expect(client().request(request)).rejects.toMatchObject({ kind: 'tls' })
  })

  it('reuses connections for repeatable requests only', async () => {
    const { port, connections } = await serve((_, response) => response.end())
    const http = client()
    const url = `http://127.0.0.1:${port}/`
    for (let count = 0; count < 3; count++) await http.request(asked(url, { repeatable: true }))
    expect(connections()).toBe(1)
    for (let count = 0; count < 2; count++) await http.request(asked(url, { method: 'POST' }))
    expect(connections()).toBe(3)
  })

  it('follows no redirect, retries nothing, and returns any status as a response', async () => {
    let requests = 0
    const { port } = await serve((_, response) => {
      response.writeHead(requests++ === 0 ? 302 : 503, { location: '/elsewhere', 'retry-after': '1' }).end()
    })
    const http = client()
    expect((await http.request(asked(`http://127.0.0.1:${port}/`))).status).toBe(302)
    expect((await http.request(asked(`http://127.0.0.1:${port}/`))).status).toBe(503)
    expect(requests).toBe(2)
  })

  it('reads a decompressed body up to its limit', async () => {
    const { port } = await serve((request, response) => {
      const packed = gzipSync('x'.repeat(5_000_000))
      if (request.url === '/zip') response.setHeader('content-encoding', 'gzip')
      response.end(request.url === '/zip' ? packed : 'y'.repeat(2_000))
    })
    const http = client()
    for (const path of ['/zip', '/plain']) {
      const { body, truncated } = await http.request(asked(`http://127.0.0.1:${port}${path}`))
      expect([body.length, truncated]).toEqual([1_000, true])
    }
  })

  it('ends at its deadline, before or within the response, and when it is cancelled', async () => {
    const { port } = await serve((request, response) => {
      if (request.url === '/begins') response.write('a')
    })
    const http = client()
    for (const path of ['/silent', '/begins']) {
      const request = asked(`http://127.0.0.1:${port}${path}`, { timeoutMs: 100 })
      await expect(http.request(request)).rejects.toMatchObject({ kind: 'timeout' })
    }
    const cancelled = AbortSignal.abort()
    await expect(
      http.request(asked(`http://127.0.0.1:${port}/silent`, { signal: cancelled })),
    ).rejects.toMatchObject({ kind: 'reset' })
  })

  it('reports the kind of each failure', async () => {
    const garbled = await listen(
      createTcpServer((socket) => socket.once('data', () => socket.end('SSH-2.0\r\n'))),
    )
    const closing = await listen(createTcpServer((socket) => socket.destroy()))
    const http = client({ resolve: async () => [{ address: '10.1.2.3', family: 4 }] })
    const kindOf = (url: string) =>
      http
        .request(asked(url))
        .catch((error: unknown) => (error instanceof OutboundError ? error.kind : error))
    expect(await kindOf(`http://127.0.0.1:${garbled.port}/`)).toBe('protocol')
    expect(await kindOf(`http://127.0.0.1:${closing.port}/`)).toBe('reset')
    expect(await kindOf('http://127.0.0.1:1025/')).toBe('connect')
    expect(await kindOf('http://inside.example.com:8080/')).toBe('dns')
    expect(await kindOf('http://169.254.169.254:8080/')).toBe('blocked_address')
  })
})
