import { once } from 'node:events'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it } from '@jest/globals'
import { generate } from 'selfsigned'
import { createOutbound, type OutboundRequest } from './outbound.js'
import { maxResponseBytes } from './response-limit.js'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A server whose nth connection behaves as given, and a guard that calls it. */
async function startWith(behave: (socket: Socket, connection: number) => void) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => socket.destroy())
    behave(socket, sockets.length)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const guard = createOutbound({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true, connectionsPerOrigin: 1 })
  closers.push(
    () => server.close(),
    () => guard.close(),
  )
  const { port } = server.address() as AddressInfo
  const request = (rest: Partial<OutboundRequest> = {}, scheme = 'http') =>
    guard.request({
      url: `${scheme}://127.0.0.1:${port}/`,
      method: 'POST',
      headers: {},
      body: '{}',
      timeoutMs: 30_000,
      maxResponseBytes: 1024,
      ...rest,
    })
  return { request, sockets, server }
}

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'
const answersOnce = (socket: Socket) => {
  socket.once('data', () => {
    socket.write(ok)
    socket.once('data', () => socket.resetAndDestroy())
  })
}

describe('a reused connection that is reset', () => {
  it('fails a request that must not be repeated', async () => {
    const { request, sockets } = await startWith(answersOnce)
    await request()
    await expect(request()).rejects.toMatchObject({ kind: 'reset' })
    expect(sockets).toHaveLength(1)
  })

  it('is replaced for a repeatable request', async () => {
    const { request, sockets } = await startWith(answersOnce)
    await request({ repeatable: true })
    expect(await request({ repeatable: true })).toMatchObject({ status: 200 })
    expect(sockets).toHaveLength(2)
  })

  it('is replaced once: a reset of the new connection fails the request', async () => {
    const { request, sockets } = await startWith((socket, connection) => {
      if (connection === 1) answersOnce(socket)
      else socket.once('data', () => socket.resetAndDestroy())
    })
    await request({ repeatable: true })
    await expect(request({ repeatable: true })).rejects.toMatchObject({ kind: 'reset' })
    expect(sockets).toHaveLength(2)
  })
})

describe('a connection whose handshake never ends', () => {
  it('is closed when the last request that waits for it ends', async () => {
    const { request, sockets, server } = await startWith((socket) => void socket.resume())
    const patient = new AbortController()
    const dialled = once(server, 'connection')
    const long = request({ signal: patient.signal }, 'https')
    await dialled
    await expect(request({ timeoutMs: 100 }, 'https')).rejects.toMatchObject({ kind: 'timeout' })
    const [socket] = sockets
    if (!socket) throw new Error('nothing was dialled')
    expect(socket.readableEnded).toBe(false)
    const closed = once(socket, 'close')
    patient.abort()
    await expect(long).rejects.toMatchObject({ kind: 'reset' })
    await closed
    expect(sockets).toHaveLength(1)
  })

  it('does not fail a request that starts at that moment: it uses a new connection', async () => {
    const { request, sockets } = await startWith((socket, connection) => {
      if (connection === 1) socket.resume()
      else socket.once('data', () => socket.end('this is no TLS'))
    })
    const next = request({ timeoutMs: 100 }, 'https').catch(() => request({}, 'https'))
    await expect(next).rejects.toMatchObject({ kind: 'tls' })
    expect(sockets).toHaveLength(2)
  })
})

describe('a response that consists mostly of chunk extensions', () => {
  const extension = (bytes: number) =>
    `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1;${'x'.repeat(bytes)}\r\na\r\n0\r\n\r\n`

  it('is rejected beyond the maximum response size', async () => {
    const { request } = await startWith((socket) =>
      socket.once('data', () => socket.write(extension(maxResponseBytes))),
    )
    await expect(request()).rejects.toMatchObject({ kind: 'protocol' })
  })

  it('is limited separately for each request of a connection', async () => {
    const { request, sockets } = await startWith((socket) =>
      socket.on('data', () => socket.write(extension(maxResponseBytes / 2))),
    )
    for (let n = 0; n < 3; n++) expect(await request()).toMatchObject({ status: 200, truncated: false })
    expect(sockets).toHaveLength(1)
  })
})

describe('interim responses', () => {
  const hint = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
  it('are skipped, also a 100 without an Expect header', async () => {
    const { request, sockets } = await startWith((socket) =>
      socket.on('data', () => socket.write(`HTTP/1.1 100 Continue\r\n\r\n${hint}${ok}`)),
    )
    for (let n = 0; n < 2; n++) expect(await request()).toMatchObject({ status: 200 })
    expect(sockets).toHaveLength(1)
  })

  it.each([
    [16, 200],
    [17, undefined],
  ])('%i interim responses before the final one lead to the status %s', async (count, status) => {
    const { request } = await startWith((socket) =>
      socket.once('data', () => socket.write(hint.repeat(count) + ok)),
    )
    const outcome = await request().catch((error: unknown) => error)
    expect(outcome).toMatchObject(status ? { status } : { kind: 'protocol' })
  })
})

describe('a connection that replaces a closed one', () => {
  it('resumes its TLS session, even after a garbage collection', async () => {
    const { private: key, cert } = await generate([{ name: 'commonName', value: 'localhost' }], {
      extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
    })
    const resumed: boolean[] = []
    const server = createHttpsServer({ key, cert }, (_request, response) =>
      response.writeHead(200, { connection: 'close' }).end(),
    ).on('secureConnection', (socket: TLSSocket) => resumed.push(socket.isSessionReused()))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const guard = createOutbound({ allowedCidrs: ['127.0.0.0/8'], allowHttp: false, ca: cert })
    closers.push(
      () => server.close(),
      () => guard.close(),
    )
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}/`
    const get = { url, method: 'GET' as const, headers: {}, timeoutMs: 30_000, maxResponseBytes: 0 }
    for (let n = 0; n < 3; n++) {
      await guard.request(get)
      // The time of a collection is undefined, but weak references do not survive this one.
      collectGarbage()
    }
    expect(resumed).toEqual([false, true, true])
  })
})

function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  ;(runInNewContext('gc') as () => void)()
}
