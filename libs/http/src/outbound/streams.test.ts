import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer, TLSSocket } from 'node:tls'
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals'
import { generate } from 'selfsigned'
import { createOutbound, type Outbound, type OutboundOptions } from './outbound.js'

let key: string
let cert: string
beforeAll(async () => {
  const attributes = [{ name: 'commonName', value: 'db.example' }]
  const extensions = [
    { name: 'subjectAltName' as const, altNames: [{ type: 2 as const, value: 'db.example' }] },
  ]
  ;({ private: key, cert } = await generate(attributes, { extensions }))
})

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function listen(server: Server): Promise<number> {
  server.on('connection', (socket: Socket) => {
    socket.on('error', () => {})
    closers.push(() => socket.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(() => server.close())
  return (server.address() as AddressInfo).port
}

const greeting = (socket: Socket) => socket.write('hello')
const plainServer = (onConnection: (socket: Socket) => unknown = greeting) =>
  listen(createServer(onConnection))
const tlsServer = () => listen(createTlsServer({ key, cert }, greeting).on('tlsClientError', () => {}))

function guard(options: Partial<OutboundOptions> = {}): Outbound {
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const made = createOutbound({ allowedCidrs: ['127.0.0.0/8'], allowHttp: true, resolve, ...options })
  closers.push(() => made.close())
  return made
}

/** Listens in a process that accepts no connections: once its queue is full, connecting never completes. */
async function deafServer(): Promise<number> {
  const code = `const server = require('node:net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, () => {
    require('node:fs').writeSync(1, String(server.address().port))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  })`
  const child = spawn(process.execPath, ['-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
  closers.push(() => child.kill('SIGKILL'))
  return Number((await once(child.stdout, 'data'))[0])
}

const timeoutMs = 30_000
const said = async (socket: Socket) => String((await once(socket, 'data'))[0])

describe('an outbound stream', () => {
  it('is a plain socket, and returns data that the server sent before the first read', async () => {
    const port = await plainServer()
    const socket = await guard().connect({ host: 'db.example', port, timeoutMs })
    expect(await said(socket)).toBe('hello')
    expect(socket).not.toBeInstanceOf(TLSSocket)
  })

  it('uses TLS from the first byte, with the host name verified', async () => {
    const port = await tlsServer()
    const socket = await guard({ ca: cert }).connect({ host: 'db.example', port, tls: {}, timeoutMs })
    expect(await said(socket)).toBe('hello')
    expect(socket).toMatchObject({ authorized: true, servername: 'db.example' })
  })

  it('switches to TLS after both sides have agreed', async () => {
    const port = await plainServer((socket) =>
      socket.once('data', () => {
        socket.write('S', () => new TLSSocket(socket, { isServer: true, key, cert }).write('hello'))
      }),
    )
    const outbound = guard({ ca: cert })
    const plain = await outbound.connect({ host: 'db.example', port, timeoutMs })
    plain.write('TLS?')
    expect(await said(plain)).toBe('S')
    const secure = await outbound.startTls(plain, 'db.example')
    expect(await said(secure)).toBe('hello')
  })

  it.each([
    ['another host', 'other.example', {}],
    ['an address', '127.0.0.1', {}],
  ])('is rejected if the certificate is not valid for %s', async (_name, host, tls) => {
    const port = await tlsServer()
    const opening = guard({ ca: cert }).connect({ host, port, tls, timeoutMs })
    await expect(opening).rejects.toMatchObject({ kind: 'tls' })
  })

  it('trusts a CA of the caller, accepts any certificate if configured, and rejects an unknown CA', async () => {
    const port = await tlsServer()
    const to = { host: 'db.example', port, timeoutMs }
    await guard().connect({ ...to, tls: { ca: cert } })
    await guard().connect({ ...to, tls: { verify: false } })
    await expect(guard().connect({ ...to, tls: {} })).rejects.toMatchObject({ kind: 'tls' })
    await expect(guard().connect({ ...to, tls: { ca: 'none' } })).rejects.toMatchObject({ kind: 'tls' })
  })

  it('is closed when its signal aborts or the guard closes', async () => {
    const port = await plainServer()
    const caller = new AbortController()
    const outbound = guard()
    const open = () => outbound.connect({ host: 'db.example', port, timeoutMs, signal: caller.signal })
    const first = await open()
    const closed = new Promise((resolve) => first.once('close', resolve))
    caller.abort()
    await closed
    await expect(open()).rejects.toMatchObject({ kind: 'reset' })
    const second = await outbound.connect({ host: 'db.example', port, timeoutMs })
    await outbound.close()
    expect(second.destroyed).toBe(true)
    await expect(outbound.connect({ host: 'db.example', port, timeoutMs })).rejects.toMatchObject({
      kind: 'reset',
    })
  })

  it('is closed when a response exceeds the limit, which applies to each response separately', async () => {
    const mebibytes = (count: number) => Buffer.alloc(count * 1024 * 1024)
    const port = await plainServer((socket) =>
      socket.on('data', (asked) => socket.write(mebibytes(asked[0] ?? 0))),
    )
    const socket = await guard().connect({ host: 'db.example', port, timeoutMs })
    const answer = async (count: number) => {
      let left = count * 1024 * 1024
      socket.write(Buffer.from([count]))
      while (left > 0) left -= ((await once(socket, 'data')) as [Buffer])[0].length
    }
    for (let n = 0; n < 3; n++) await answer(5)
    await expect(answer(9)).rejects.toMatchObject({ kind: 'protocol' })
  })
})

describe('the deadline of an outbound stream', () => {
  it('covers name resolution', async () => {
    const outbound = guard({ resolve: () => new Promise(() => {}) })
    const opening = outbound.connect({ host: 'slow.example', port: 5432, timeoutMs: 50 })
    await expect(opening).rejects.toMatchObject({ kind: 'timeout' })
  })

  it('covers connecting', async () => {
    const port = await deafServer()
    const outbound = guard()
    const opening = Array.from({ length: 8 }, () =>
      outbound.connect({ host: 'db.example', port, timeoutMs: 300 }),
    )
    const failures = (await Promise.allSettled(opening)).flatMap((each) =>
      each.status === 'rejected' ? [each.reason] : [],
    )
    // The operating system accepts the first few connections without the server.
    expect(failures.length).toBeGreaterThan(0)
    for (const failure of failures) expect(failure).toMatchObject({ kind: 'timeout' })
  })

  it('covers the TLS handshake with a silent server, and closes the connection', async () => {
    let hangUp = () => {}
    const hungUp = new Promise<void>((resolve) => {
      hangUp = resolve
    })
    const port = await plainServer((socket) => socket.resume().on('close', hangUp))
    const opening = guard().connect({ host: 'db.example', port, tls: {}, timeoutMs: 100 })
    await expect(opening).rejects.toMatchObject({ kind: 'timeout' })
    await hungUp
  })
})

describe('the address of an outbound stream', () => {
  it.each([
    '127.0.0.1',
    '127.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '①②⑦.⓪.⓪.①',
    '::1',
    '[::1]',
    '::ffff:127.0.0.1',
    '[::ffff:7f00:1]',
    'localhost',
    'LOCALHOST.',
    'db.localhost',
    '169.254.169.254',
    'fd00:ec2::254',
    '0.0.0.0',
  ])('is never %s', async (host) => {
    let visits = 0
    const port = await plainServer(() => visits++)
    const outbound = guard({ allowedCidrs: [] })
    await expect(outbound.connect({ host, port, timeoutMs })).rejects.toMatchObject({
      kind: 'blocked_address',
    })
    expect(() => outbound.checkTarget({ host, port }, '/config')).toThrow('special address')
    expect(visits).toBe(0)
  })

  it.each([['127.0.0.1'], ['169.254.169.254'], ['::ffff:10.0.0.1'], ['64:ff9b::a00:1'], ['fe80::1%eth0']])(
    'is never %s after name resolution, and the error does not reveal that address',
    async (address) => {
      const outbound = guard({ allowedCidrs: [], resolve: async () => [{ address, family: 4 }] })
      outbound.checkTarget({ host: 'rebound.example', port: 5432 })
      await expect(
        outbound.connect({ host: 'rebound.example', port: 5432, timeoutMs }),
      ).rejects.toMatchObject({
        kind: 'dns',
        message: 'The host name could not be resolved. (ENOTFOUND)',
      })
    },
  )

  it('is the one that was checked: the name is resolved once', async () => {
    const port = await plainServer()
    let lookups = 0
    const resolve = async () => [{ address: lookups++ === 0 ? '127.0.0.1' : '10.0.0.1', family: 4 }]
    const socket = await guard({ resolve }).connect({ host: 'rebinding.example', port, timeoutMs })
    expect(await said(socket)).toBe('hello')
    expect(lookups).toBe(1)
  })

  it.each([
    '',
    'a b',
    'user@db',
    'db:5432',
    'db/x',
    'db?x',
    'db#x',
    '%31',
    'a\\b',
    '[::1',
    '1::2::3',
    'fe80::1%eth0',
  ])('is rejected as a malformed host: %j', (host) => {
    expect(() => guard().checkTarget({ host, port: 5432 })).toThrow('name or the address')
  })
})

describe('the port of an outbound stream', () => {
  it.each([0, -1, 1.5, 22, 25, 80, 443, 6000, 6667, 65_536])('is never %d', async (port) => {
    await expect(guard().connect({ host: 'db.example', port, timeoutMs })).rejects.toMatchObject({
      kind: 'blocked_address',
      message: expect.stringContaining('Port'),
    })
  })

  it('is at least 1024, or one of the configured ports', () => {
    const outbound = guard({ streamPorts: [465, 587] })
    for (const port of [465, 587, 1024, 5432, 65_535]) outbound.checkTarget({ host: 'db.example', port })
    for (const port of [25, 80, 443])
      expect(() => outbound.checkTarget({ host: 'db.example', port }, '/config')).toThrow(`Port ${port}`)
    outbound.checkTarget({ host: 'db.example', port: 443, http: true })
    expect(() => outbound.checkTarget({ host: 'db.example', port: 25, http: true })).toThrow('Port 25')
  })
})
