import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { afterEach, describe, expect, it } from '@jest/globals'
import { createOutbound, type Outbound } from './outbound.js'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

/** A guard whose resolver returns these answers in order, and then repeats the last one. */
function guardWith(answers: string[][], allowedCidrs: string[]): { guard: Outbound; lookups(): number } {
  let lookups = 0
  const guard = createOutbound({
    allowedCidrs,
    allowHttp: true,
    connectionsPerOrigin: 1,
    resolve: async () =>
      (answers[Math.min(lookups++, answers.length - 1)] ?? []).map((address) => ({
        address,
        family: address.includes(':') ? 6 : 4,
      })),
  })
  closers.push(() => guard.close())
  return { guard, lookups: () => lookups }
}

/** A server on every local address that records the address it was reached by. */
async function startEverywhere() {
  const reached: string[] = []
  const sockets: Socket[] = []
  const server: Server = createServer((_request, response) => response.end('ok'))
  server.on('connection', (socket: Socket) => {
    reached.push(socket.localAddress ?? '')
    sockets.push(socket)
  })
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  closers.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, reached, sockets }
}

const post = (url: string) => ({
  url,
  method: 'POST' as const,
  headers: {},
  body: '{}',
  timeoutMs: 30_000,
  maxResponseBytes: 1024,
})

describe('a name that resolves to a special address at the time of the call', () => {
  it.each([
    [['127.0.0.1']],
    [['0.0.0.0']],
    [['169.254.169.254']],
    [['100.100.100.200']],
    [['::1']],
    [['::']],
    [['::ffff:10.0.0.1']],
    [['::ffff:7f00:1']],
    [['::127.0.0.1']],
    [['64:ff9b::a00:1']],
    [['64:ff9b:1::a00:1']],
    [['2002:a00:1::1']],
    [['2001::a00:1']],
    [['fd00::1']],
    [['fe80::1']],
    [['fe80::1%eth0']],
    [['93.184.215.14', '10.0.0.1']],
    [['2606:2800:21f:cb07:6820:80da:af6b:8b2c', '::1']],
    [['93.184.215.14', '::ffff:169.254.169.254']],
    [['93.184.215.14', 'localhost']],
    [['127.1']],
  ])('is not called: %j', async (later) => {
    const { guard, lookups } = guardWith([later], [])
    expect(() => guard.checkUrl('https://rebound.example/')).not.toThrow()
    for (const scheme of ['http', 'https'])
      await expect(guard.request(post(`${scheme}://rebound.example/`))).rejects.toMatchObject({
        kind: 'dns',
        message: 'The host name could not be resolved. (ENOTFOUND)',
      })
    expect(lookups()).toBe(2)
  })

  it('is not called even if a server listens at that address', async () => {
    const { port, reached } = await startEverywhere()
    const { guard } = guardWith([['127.0.0.1']], ['127.0.0.2/32'])
    await expect(guard.request(post(`http://rebound.example:${port}/`))).rejects.toMatchObject({
      kind: 'dns',
    })
    expect(reached).toEqual([])
  })
})

describe('a connection', () => {
  it('uses the checked address and resolves the name once', async () => {
    const { port, reached } = await startEverywhere()
    const { guard, lookups } = guardWith([['127.0.0.2'], ['127.0.0.1']], ['127.0.0.2/32'])
    for (let n = 0; n < 3; n++)
      expect(await guard.request(post(`http://pinned.example:${port}/`))).toMatchObject({ status: 200 })
    expect(reached).toEqual(['127.0.0.2'])
    expect(lookups()).toBe(1)
  })

  it('that replaces a closed one is checked again', async () => {
    const { port, reached, sockets } = await startEverywhere()
    const { guard, lookups } = guardWith([['127.0.0.2'], ['127.0.0.1']], ['127.0.0.2/32'])
    const url = `http://rebound.example:${port}/`
    await guard.request(post(url))
    for (const socket of sockets) socket.resetAndDestroy()
    await expect(guard.request({ ...post(url), repeatable: true })).rejects.toMatchObject({
      kind: 'dns',
    })
    expect(reached).toEqual(['127.0.0.2'])
    expect(lookups()).toBe(2)
  })

  it('tries the next checked address of a name, and no other', async () => {
    const { port, reached } = await startEverywhere()
    // Nothing listens on IPv6.
    const { guard, lookups } = guardWith([['::1', '127.0.0.3']], ['::1/128', '127.0.0.3/32'])
    await guard.request(post(`http://two.example:${port}/`))
    expect(reached).toEqual(['127.0.0.3'])
    expect(lookups()).toBe(1)
  })
})
