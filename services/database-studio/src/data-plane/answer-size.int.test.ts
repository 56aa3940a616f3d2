import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { TLSSocket } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { createMeteredSocket } from '@opsplane/postgres'
import { createCertificate, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { AnswerTooLargeError } from './answer-size.js'
import { deadline, twoSpaces } from './two-spaces.fixture.js'

const mebibyte = 1_048_576
/** Maximum bytes of one read from a socket. */
const chunk = 65_536
const url = new URL(process.env.TEST_DATABASE_URL ?? '')

describe("a client's Postgres socket", () => {
  let front: Server
  let cert: string
  const sockets = new Set<Socket>()
  beforeAll(async () => {
    const certificate = await createCertificate()
    cert = certificate.cert
    // A TLS proxy in front of Postgres, which runs without TLS.
    front = createServer((socket) => {
      sockets.add(socket.on('error', () => {}))
      socket.once('data', () =>
        socket.write('S', () => {
          const secure = new TLSSocket(socket, { isServer: true, ...certificate })
          const upstream = connect(Number(url.port), url.hostname)
          pipeline(secure, upstream, secure, () => upstream.destroy())
        }),
      )
    }).listen(0, '127.0.0.1')
    await once(front, 'listening')
  })
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    front.close()
  })

  it.each(['plain', 'TLS'])(
    'reads at most the allowed number of bytes of a row of any size (%s)',
    async (kind) => {
      const { socket, meter } = createMeteredSocket()
      const secure = {
        port: (front.address() as AddressInfo).port,
        host: '127.0.0.1',
        ssl: { ca: cert, checkServerIdentity: () => undefined },
      }
      // The types of the client do not declare the `socket` option.
      const options = { max: 1, socket, ...(kind === 'TLS' && secure) } as object
      const client = postgres(url.href, options)
      meter.allow(mebibyte)
      expect(await client`select repeat('x', 500000) as x`).toHaveLength(1)
      expect(meter.received()).toBeGreaterThan(500_000)
      meter.allow(mebibyte)
      const whole = client`select repeat('x', 100000000) as x`
      await expect(whole).rejects.toMatchObject({ code: 'CONNECTION_CLOSED' })
      expect(meter.exceeded()).toBe(true)
      expect(meter.received()).toBeLessThanOrEqual(mebibyte + chunk)
      await client.end({ timeout: 1 })
    },
  )
})

describe('the answer to one user of a session', () => {
  const at = twoSpaces()
  const acting = { actor: { id: 'usr_1', name: 'Ann', type: 'user' as const }, requestId: 'request-1' }
  const large = `select repeat('x', 20000000) from generate_series(1, 50)`
  const insert = `insert into notes (text) select repeat('x', 200000) from generate_series(1, 180) returning text`
  const notes = async () => (await at.run('reader', ['select count(*)::int4 as n from notes']))[0]

  it.each([
    ['a session', () => at.plane.session(at.ours, 'reader', deadline, ({ sql }) => sql.unsafe(large))],
    ['a read', () => at.plane.read(at.ours, (sql) => sql.unsafe(large))],
    ['a write', () => at.plane.write(at.ours, acting, (tx) => tx.unsafe(insert))],
  ])('is limited in size in %s; nothing is written, and the backend is terminated', async (_, work) => {
    const before = await notes()
    await expect(Promise.resolve(work())).rejects.toBeInstanceOf(AnswerTooLargeError)
    expect(await notes()).toEqual(before)
    await waitFor(async () => {
      const [left] = await at.admin`select count(*)::int4 as n from pg_stat_activity
        where usename like ${`${at.ours.schema}%`} and query like '%repeat%'`
      return left?.n === 0
    })
  })
})
