import { createSocket, type RemoteInfo } from 'node:dgram'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals'
import ipaddr from 'ipaddr.js'
import { createOutbound, type OutboundOptions } from './outbound.js'
import { createResolver, type ResolverOptions } from './resolver.js'
import type { Resolve } from './system-lookup.js'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

let directory: string
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'resolver-'))
  closers.push(() => rm(directory, { recursive: true }))
})

/** Addresses, a response code, the raw bytes of the response, or no response. */
type Reply = string[] | 'NXDOMAIN' | 'SERVFAIL' | 'REFUSED' | 'truncated' | Buffer | 'never'
type Zone = Record<string, { A?: Reply; AAAA?: Reply } | Reply>

const typeNames: Record<number, 'A' | 'AAAA'> = { 1: 'A', 28: 'AAAA' }
const codes: Record<string, number> = { SERVFAIL: 2, NXDOMAIN: 3, REFUSED: 5 }

/** A DNS server that knows only these names. */
async function serve(zone: Zone) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const { name, type } = question(query)
    asked.push(`${name} ${type}`)
    const entry = zone[name] ?? 'NXDOMAIN'
    const reply =
      typeof entry === 'string' || Array.isArray(entry) || Buffer.isBuffer(entry) ? entry : entry[type]
    if (reply !== 'never') socket.send(encode(query, type, reply ?? []), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  closers.push(() => socket.close())
  return { servers: [`127.0.0.1:${socket.address().port}`], asked }
}

function question(query: Buffer): { name: string; type: 'A' | 'AAAA'; end: number } {
  const labels: string[] = []
  let at = 12
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.'), type: typeNames[query.readUInt16BE(at + 1)] ?? 'A', end: at + 5 }
}

function encode(query: Buffer, type: 'A' | 'AAAA', reply: Exclude<Reply, 'never'>): Buffer {
  if (Buffer.isBuffer(reply)) return Buffer.concat([query.subarray(0, 2), reply])
  const addresses = Array.isArray(reply)
    ? reply.filter((each) => each.includes(':') === (type === 'AAAA'))
    : []
  const header = Buffer.alloc(12)
  query.copy(header, 0, 0, 2)
  header.writeUInt16BE(0x8180 | (reply === 'truncated' ? 0x0200 : 0) | (codes[String(reply)] ?? 0), 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(addresses.length, 6)
  return Buffer.concat([header, query.subarray(12, question(query).end), ...addresses.map(record)])
}

/** Name (of the question), type, class, TTL in seconds, length, address. */
function record(address: string): Buffer {
  const data = Buffer.from(ipaddr.parse(address).toByteArray())
  const head = Buffer.from([0xc0, 12, 0, data.length === 4 ? 1 : 28, 0, 1, 0, 0, 0, 1, 0, data.length])
  return Buffer.concat([head, data])
}

const systemKnowsNothing: Resolve = async () => {
  throw Object.assign(new Error('The system does not know it.'), { code: 'ENOTFOUND' })
}

async function file(name: string, text: string): Promise<string> {
  const path = join(directory, name)
  await writeFile(path, text)
  return path
}

/** A resolver that reads no configuration of this machine. */
function isolated(options: ResolverOptions): Resolve {
  return createResolver({
    hostsFile: join(directory, 'no-hosts'),
    resolvConf: join(directory, 'no-resolv-conf'),
    lookup: systemKnowsNothing,
    ...options,
  })
}

const unlimited = new AbortController().signal

async function addressesOf(resolve: Resolve, hostname: string, signal = unlimited): Promise<string[]> {
  return (await resolve(hostname, signal)).map(({ address, family }) => `${address} ${family}`)
}

function guardWith(resolve: Resolve, options: Partial<OutboundOptions> = {}) {
  const guard = createOutbound({ allowedCidrs: [], allowHttp: true, resolve, ...options })
  closers.push(() => guard.close())
  return guard
}

const get = (url: string, timeoutMs = 30_000) => ({
  url,
  method: 'GET' as const,
  headers: {},
  timeoutMs,
  maxResponseBytes: 1024,
})

describe('a name in DNS', () => {
  it('resolves to the addresses of both families', async () => {
    const { servers } = await serve({ 'both.example': ['93.184.215.14', '8.8.8.8', '2606:4700::1111'] })
    expect(await addressesOf(isolated({ servers }), 'both.example')).toEqual([
      '93.184.215.14 4',
      '8.8.8.8 4',
      '2606:4700::1111 6',
    ])
  })

  it.each<[string, Zone[string], string[]]>([
    ['IPv4 only', { A: ['8.8.8.8'] }, ['8.8.8.8 4']],
    ['IPv6 only', { AAAA: ['2606:4700::1111'] }, ['2606:4700::1111 6']],
    ['IPv4, and IPv6 fails', { A: ['8.8.8.8'], AAAA: 'SERVFAIL' }, ['8.8.8.8 4']],
    ['IPv4, and IPv6 never answers', { A: ['8.8.8.8'], AAAA: 'never' }, ['8.8.8.8 4']],
    ['IPv6, and IPv4 never answers', { A: 'never', AAAA: ['2606:4700::1111'] }, ['2606:4700::1111 6']],
  ])('resolves with %s', async (_what, entry, addresses) => {
    const { servers } = await serve({ 'one.example': entry })
    expect(await addressesOf(isolated({ servers }), 'one.example')).toEqual(addresses)
  })

  it.each<[string, Zone[string], string]>([
    ['that does not exist', 'NXDOMAIN', 'ENOTFOUND'],
    ['without addresses', [], 'ENODATA'],
    ['whose server fails', 'SERVFAIL', 'ESERVFAIL'],
    [
      'whose server fails for one family, and has nothing of the other',
      { A: [], AAAA: 'SERVFAIL' },
      'ESERVFAIL',
    ],
    ['whose server refuses', 'REFUSED', 'EREFUSED'],
    ['whose answer is cut, and there is no TCP', 'truncated', 'ECONNREFUSED'],
    ['whose answer is garbage', Buffer.alloc(40, 0xff), 'EBADRESP'],
  ])('%s causes a dns error', async (_what, entry, code) => {
    const { servers } = await serve({ 'bad.example': entry })
    await expect(guardWith(isolated({ servers })).request(get('http://bad.example/'))).rejects.toMatchObject({
      kind: 'dns',
      message: `The host name could not be resolved. (${code})`,
    })
  })

  it('causes a dns error if no DNS server is reachable', async () => {
    const closed = await serve({})
    await closers.pop()?.()
    const guard = guardWith(isolated({ servers: closed.servers }))
    await expect(guard.request(get('http://any.example/'))).rejects.toMatchObject({
      kind: 'dns',
      message: 'The host name could not be resolved. (ECONNREFUSED)',
    })
  })

  it.each([[['10.0.0.1']], [['8.8.8.8', '10.0.0.1']], [['8.8.8.8', 'fd00::1']], [['::ffff:127.0.0.1']]])(
    'is refused if one of its addresses is not allowed: %j',
    async (addresses) => {
      const { servers } = await serve({ 'inside.example': addresses })
      const guard = guardWith(isolated({ servers }))
      await expect(guard.request(get('http://inside.example/'))).rejects.toMatchObject({
        kind: 'dns',
        message: 'The host name could not be resolved. (ENOTFOUND)',
      })
    },
  )
})

describe('names whose DNS server never answers', () => {
  const names = Array.from({ length: 20 }, (_, n) => `hanging-${n}.example`)
  const hanging = Object.fromEntries(names.map((name) => [name, 'never' as const]))

  it('do not delay other names', async () => {
    const { servers, asked } = await serve({ ...hanging, 'healthy.example': ['8.8.8.8'] })
    const resolve = isolated({ servers })
    const limits = names.map(() => new AbortController())
    const ended: string[] = []
    const hung = names.map((name, n) =>
      resolve(name, limits[n]?.signal ?? unlimited).then(
        () => ended.push(`${name} resolved`),
        () => ended.push('given up'),
      ),
    )
    const questions = names.flatMap((name) => [`${name} A`, `${name} AAAA`])
    // All of them are pending at the same time.
    while (!questions.every((question) => asked.includes(question))) await setImmediate()
    await addressesOf(resolve, 'healthy.example').then(() => ended.push('healthy'))
    for (const limit of limits) limit.abort()
    await Promise.all(hung)
    expect(ended).toEqual(['healthy', ...names.map(() => 'given up')])
  })

  it('cause a dns error when the resolve timeout has passed', async () => {
    const { servers } = await serve(hanging)
    const guard = guardWith(isolated({ servers }), { resolveTimeoutMs: 50 })
    await expect(guard.request(get('http://hanging-0.example/'))).rejects.toMatchObject({
      kind: 'dns',
      message: 'The host name could not be resolved in time. (ETIMEOUT)',
    })
  })

  it('are abandoned when the guard closes', async () => {
    const { servers } = await serve(hanging)
    const guard = guardWith(isolated({ servers }), { resolveTimeoutMs: 1_000_000 })
    const called = guard.request(get('http://hanging-0.example/')).catch(({ kind }) => kind)
    await guard.close()
    expect(await called).toEqual(expect.any(String))
  })

  it('are awaited until the deadline of the request', async () => {
    const { servers } = await serve(hanging)
    const guard = guardWith(isolated({ servers }), { resolveTimeoutMs: 1_000_000 })
    await expect(guard.request(get('http://hanging-0.example/', 20))).rejects.toMatchObject({
      kind: 'timeout',
    })
  })
})

describe('the hosts file', () => {
  it('takes precedence over DNS, which is not queried', async () => {
    const { servers, asked } = await serve({ 'db.example': ['8.8.8.8'] })
    const hostsFile = await file(
      'hosts',
      '# local\n10.0.0.1\tother DB.example # why\n::1 db.example\nnot-an-address db.example\n',
    )
    const resolve = isolated({ servers, hostsFile })
    expect(await addressesOf(resolve, 'db.example')).toEqual(['10.0.0.1 4', '::1 6'])
    expect(await addressesOf(resolve, 'Other.')).toEqual(['10.0.0.1 4'])
    expect(asked).toEqual([])
  })

  it('is read again after it was changed or deleted', async () => {
    const { servers } = await serve({ 'db.example': ['8.8.8.8'] })
    const hostsFile = await file('hosts', '10.0.0.1 db.example\n')
    const resolve = isolated({ servers, hostsFile })
    expect(await addressesOf(resolve, 'db.example')).toEqual(['10.0.0.1 4'])
    await file('hosts', '10.0.0.22 db.example\n')
    expect(await addressesOf(resolve, 'db.example')).toEqual(['10.0.0.22 4'])
    await rm(hostsFile)
    expect(await addressesOf(resolve, 'db.example')).toEqual(['8.8.8.8 4'])
  })

  it('is subject to the same address check as DNS', async () => {
    const hostsFile = await file('hosts', '10.0.0.1 db.example\n')
    const guard = guardWith(isolated({ hostsFile }))
    await expect(guard.request(get('http://db.example/'))).rejects.toMatchObject({ kind: 'dns' })
  })

  it('is not needed to resolve localhost', async () => {
    const { servers, asked } = await serve({ localhost: ['8.8.8.8'] })
    expect(await addressesOf(isolated({ servers }), 'localhost')).toEqual(['127.0.0.1 4'])
    expect(await addressesOf(isolated({ servers }), 'a.localhost')).toEqual(['127.0.0.1 4'])
    expect(asked).toEqual([])
  })
})

describe('search domains', () => {
  const resolvConf = () =>
    file('resolv.conf', 'search old.example\nsearch ns.svc.example svc.example\noptions ndots:2\n')

  it.each([
    ['hooks', ['10.0.0.1 4'], ['hooks.ns.svc.example']],
    ['hooks.other', ['10.0.0.2 4'], ['hooks.other.ns.svc.example', 'hooks.other.svc.example']],
    ['www.public.example', ['8.8.8.8 4'], ['www.public.example']],
    ['public.example.', ['8.8.4.4 4'], ['public.example']],
  ])('resolve the name %s', async (name, addresses, names) => {
    const { servers, asked } = await serve({
      'hooks.ns.svc.example': ['10.0.0.1'],
      'hooks.other.svc.example': ['10.0.0.2'],
      'www.public.example': ['8.8.8.8'],
      'public.example': ['8.8.4.4'],
    })
    expect(await addressesOf(isolated({ servers, resolvConf: await resolvConf() }), name)).toEqual(addresses)
    expect([...new Set(asked.map((each) => each.split(' ')[0]))]).toEqual(names)
  })

  it('that fail do not prevent resolution, and determine the error if the name is not found', async () => {
    const { servers } = await serve({
      'a.example.ns.svc.example': 'SERVFAIL',
      'a.example': ['8.8.8.8'],
      b: 'NXDOMAIN',
      'b.svc.example': 'SERVFAIL',
    })
    const resolve = isolated({ servers, resolvConf: await resolvConf() })
    expect(await addressesOf(resolve, 'a.example')).toEqual(['8.8.8.8 4'])
    await expect(addressesOf(resolve, 'b')).rejects.toMatchObject({ code: 'ESERVFAIL' })
  })
})

describe('the resolver of the system', () => {
  it('is used for names without a dot that DNS does not contain', async () => {
    const { servers, asked } = await serve({})
    const lookup: Resolve = async (hostname) => [
      { address: hostname === 'printer' ? '10.0.0.9' : '', family: 4 },
    ]
    const resolve = isolated({ servers, lookup })
    expect(await addressesOf(resolve, 'printer')).toEqual(['10.0.0.9 4'])
    expect(new Set(asked)).toEqual(new Set(['printer A', 'printer AAAA']))
    await expect(addressesOf(resolve, 'printer.example')).rejects.toMatchObject({ code: 'ENOTFOUND' })
  })

  it.each<[string, Reply, string]>([
    ['does not answer', 'never', 'ETIMEOUT'],
    ['fails', 'SERVFAIL', 'ESERVFAIL'],
    ['refuses', 'REFUSED', 'EREFUSED'],
  ])('is not used when DNS %s', async (_what, reply, code) => {
    const { servers } = await serve({ printer: { A: 'NXDOMAIN', AAAA: reply } })
    let lookups = 0
    const lookup: Resolve = async () => {
      lookups++
      return [{ address: '10.0.0.9', family: 4 }]
    }
    const resolve = isolated({ servers, lookup, ...(reply === 'never' && { tries: 1 }) })
    await expect(addressesOf(resolve, 'printer')).rejects.toMatchObject({ code })
    expect(lookups).toBe(0)
  })
})

describe('a guard with the resolver configuration of this machine', () => {
  it('reaches localhost', async () => {
    const server = createServer((_request, response) => response.end('here'))
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(() => {
      server.closeAllConnections()
      server.close()
    })
    const { port } = server.address() as AddressInfo
    const guard = createOutbound({ allowedCidrs: ['127.0.0.0/8', '::1/128'], allowHttp: true })
    closers.push(() => guard.close())
    expect(await guard.request(get(`http://localhost:${port}/`))).toMatchObject({ status: 200 })
  })
})
