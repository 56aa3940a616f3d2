import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, it } from '@jest/globals'
import { createOutbound, type Outbound, type OutboundOptions, type OutboundRequest } from './outbound.js'

const closers: (() => Promise<unknown> | unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
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
  return (server.address() as AddressInfo).port
}

const httpServer = (listener: RequestListener) => listen(createHttpServer(listener))
const tcpServer = (onConnection: (socket: Socket) => void) => listen(createTcpServer(onConnection))

function outbound(options: Partial<OutboundOptions> = {}): Outbound {
  const created = createOutbound({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true, ...options })
  closers.push(() => created.close())
  return created
}

const get = (url: string, rest: Partial<OutboundRequest> = {}): OutboundRequest => ({
  url,
  method: 'GET',
  headers: {},
  timeoutMs: 30_000,
  maxResponseBytes: 1024,
  ...rest,
})

describe('outbound request', () => {
  it('sends the body unchanged and returns status, headers and body', async () => {
    let received = ''
    const port = await httpServer(async (request, response) => {
      for await (const chunk of request) received += String(chunk)
      response.writeHead(202, { 'x-trace': ['a', 'b'] }).end('thanks')
    })
    const answer = await outbound().request(
      get(`http://127.0.0.1:${port}/`, { method: 'POST', headers: { 'x-a': '1' }, body: '{"a":1}' }),
    )
    expect(received).toBe('{"a":1}')
    expect(answer).toMatchObject({ status: 202, truncated: false })
    expect(answer.headers['x-trace']).toBe('a, b')
    expect(answer.body.toString()).toBe('thanks')
  })

  it('reuses the connection to an origin for the next request', async () => {
    let connections = 0
    const server = createHttpServer((_request, response) => response.end('ok'))
    server.on('connection', () => connections++)
    const port = await listen(server)
    const guard = outbound()
    for (let n = 0; n < 20; n++) await guard.request(get(`http://127.0.0.1:${port}/`))
    expect(connections).toBeLessThan(5)
  })

  it('opens no more connections to an origin than configured', async () => {
    let open = 0
    let most = 0
    const server = createHttpServer((_request, response) => setImmediate(() => response.end('ok')))
    server.on('connection', (socket) => {
      most = Math.max(most, ++open)
      socket.on('close', () => open--)
    })
    const port = await listen(server)
    const guard = outbound({ connectionsPerOrigin: 2 })
    await Promise.all(Array.from({ length: 20 }, () => guard.request(get(`http://127.0.0.1:${port}/`))))
    expect(most).toBe(2)
  })

  it('does not follow redirects', async () => {
    let visits = 0
    const port = await httpServer((_request, response) => {
      visits++
      response.writeHead(302, { location: '/elsewhere' }).end()
    })
    const answer = await outbound().request(get(`http://127.0.0.1:${port}/`))
    expect(answer.status).toBe(302)
    expect(visits).toBe(1)
  })

  it('truncates a plain body at the limit', async () => {
    const port = await httpServer((_request, response) => response.end('x'.repeat(100_000)))
    const answer = await outbound().request(get(`http://127.0.0.1:${port}/`))
    expect(answer.truncated).toBe(true)
    expect(answer.body.length).toBe(1024)
  })

  it('truncates a compressed body at the limit of its decompressed size', async () => {
    const bomb = gzipSync(Buffer.alloc(50_000_000))
    const port = await httpServer((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
    )
    const answer = await outbound().request(get(`http://127.0.0.1:${port}/`))
    expect(answer).toMatchObject({ status: 200, truncated: true })
    expect(answer.body.length).toBe(1024)
  })

  it('returns the decompressed part of a broken compressed body', async () => {
    const port = await httpServer((_request, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end('this is not gzip'),
    )
    const answer = await outbound().request(get(`http://127.0.0.1:${port}/`))
    expect(answer).toMatchObject({ status: 200, truncated: true })
  })
})

describe('outbound deadline', () => {
  it.each<[string, (socket: Socket) => void]>([
    ['never answers', () => {}],
    ['drips its headers', (socket) => socket.write('HTTP/1.1 200 OK\r\nx-a:')],
    ['drips its body', (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nabc')],
    [
      'drips a compressed body',
      (socket) =>
        socket.write(
          Buffer.from(
            'HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 100\r\n\r\n\x1f\x8b\x08',
            'latin1',
          ),
        ),
    ],
  ])('covers a server that %s', async (_name, behave) => {
    const port = await tcpServer((socket) => socket.on('data', () => behave(socket)))
    await expect(
      outbound().request(get(`http://127.0.0.1:${port}/`, { timeoutMs: 150 })),
    ).rejects.toMatchObject({ kind: 'timeout' })
  })

  it('covers name resolution', async () => {
    const guard = outbound({ resolve: () => new Promise(() => {}) })
    await expect(guard.request(get('http://slow.example/', { timeoutMs: 50 }))).rejects.toMatchObject({
      kind: 'timeout',
    })
  })

  it('ends when the caller aborts', async () => {
    const port = await tcpServer(() => {})
    const caller = new AbortController()
    const pending = outbound().request(get(`http://127.0.0.1:${port}/`, { signal: caller.signal }))
    caller.abort()
    await expect(pending).rejects.toMatchObject({ kind: 'reset' })
  })
})

describe('outbound failures', () => {
  it.each<[string, string, (socket: Socket) => void]>([
    ['reset', 'closes at once', (socket) => socket.destroy()],
    [
      'reset',
      'closes in the middle',
      (socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nab'),
    ],
    ['protocol', 'speaks another protocol', (socket) => socket.end('220 mail.example ESMTP\r\n')],
    [
      'protocol',
      'sends endless headers',
      (socket) => socket.write(`HTTP/1.1 200 OK\r\n${'x: y\r\n'.repeat(20_000)}`),
    ],
  ])('are of kind %s when the server %s', async (kind, _name, behave) => {
    const port = await tcpServer((socket) => socket.once('data', () => behave(socket)))
    await expect(outbound().request(get(`http://127.0.0.1:${port}/`))).rejects.toMatchObject({ kind })
  })

  it('are of kind connect when the connection is refused', async () => {
    const port = await tcpServer(() => {})
    for (const close of closers.splice(0)) await close()
    await expect(outbound().request(get(`http://127.0.0.1:${port}/`))).rejects.toMatchObject({
      kind: 'connect',
    })
  })

  it('are of kind tls when the server does not support TLS', async () => {
    const port = await httpServer((_request, response) => response.end())
    await expect(outbound().request(get(`https://127.0.0.1:${port}/`))).rejects.toMatchObject({ kind: 'tls' })
  })

  it('are of kind dns when the name does not resolve', async () => {
    const resolve = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
    await expect(outbound({ resolve }).request(get('http://gone.example/'))).rejects.toMatchObject({
      kind: 'dns',
    })
  })
})

describe('outbound addresses', () => {
  const answers = (...addresses: string[]) => ({
    resolve: async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
  })

  it.each(['127.0.0.1', '127.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::1]', 'localhost'])(
    'are checked before the connection: http://%s is blocked',
    async (host) => {
      let visits = 0
      const port = await httpServer((_request, response) => response.end(String(visits++)))
      await expect(
        outbound({ allowedCidrs: [] }).request(get(`http://${host}:${port}/`)),
      ).rejects.toMatchObject({ kind: 'blocked_address' })
      expect(visits).toBe(0)
    },
  )

  it.each([[['127.0.0.1']], [['8.8.8.8', '10.0.0.1']], [['64:ff9b::7f00:1']], [['::ffff:169.254.169.254']]])(
    'are checked after name resolution: a name that resolves to %j is not called',
    async (addresses) => {
      const guard = outbound({ allowedCidrs: [], ...answers(...addresses) })
      await expect(guard.request(get('http://rebound.example/'))).rejects.toMatchObject({
        kind: 'dns',
      })
    },
  )

  it('are not resolved again between the check and the connection', async () => {
    const port = await httpServer((_request, response) => response.end('checked'))
    let lookups = 0
    const guard = outbound({
      resolve: async () => [{ address: lookups++ === 0 ? '127.0.0.1' : '10.0.0.1', family: 4 }],
    })
    const answer = await guard.request(get(`http://rebinding.example:${port}/`))
    expect(answer.body.toString()).toBe('checked')
    expect(lookups).toBe(1)
  })

  it('do not reveal which internal names exist', async () => {
    const failure = (resolve: OutboundOptions['resolve']) => {
      const guard = outbound({ allowedCidrs: [], ...(resolve && { resolve }) })
      guard.checkUrl('https://vault.corp.example/')
      return guard
        .request(get('http://vault.corp.example/'))
        .catch(({ kind, message }) => ({ kind, message }))
    }
    const missing = () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))
    const inside = await failure(async () => [{ address: '10.0.0.1', family: 4 }])
    expect(inside).toEqual(await failure(missing))
    expect(inside).toMatchObject({ kind: 'dns' })
  })

  it('denied by the operator are never called, even if public or allowed', async () => {
    const port = await httpServer((_request, response) => response.end())
    const own = { allowedCidrs: ['127.0.0.0/8'], deniedCidrs: ['127.0.0.0/30', '93.184.215.0/24'] }
    await expect(outbound(own).request(get(`http://127.0.0.1:${port}/`))).rejects.toMatchObject({
      kind: 'blocked_address',
    })
    expect(() => outbound(own).checkUrl('https://93.184.215.14/')).toThrow('special address')
    const guard = outbound({ ...own, ...answers('93.184.215.14') })
    await expect(guard.request(get('http://own.example/'))).rejects.toMatchObject({ kind: 'dns' })
  })
})
