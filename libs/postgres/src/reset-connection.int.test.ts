import { once } from 'node:events'
import { type AddressInfo, connect as connectSocket, createServer, type Server, type Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals'
import { isDatabaseUnavailable, openClient } from './index.js'

const server = new URL(process.env.TEST_DATABASE_URL ?? '')
/** The clients' connections through the proxy in front of Postgres. */
const clients = new Set<Socket>()
/** Whether the proxy ends connections before they are ready, like one without a server behind it. */
let isHollow = false
let dialled = 0
let proxy: Server
let url: string

beforeAll(async () => {
  proxy = createServer((client) => {
    dialled++
    if (isHollow) {
      client.on('error', () => undefined)
      client.once('data', () => client.end())
      return
    }
    const upstream = connectSocket(Number(server.port), server.hostname)
    clients.add(client)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      from.on('error', () => undefined)
      from.on('close', () => to.destroy())
      from.pipe(to)
    }
    client.on('close', () => clients.delete(client))
  }).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const through = new URL(server)
  through.hostname = '127.0.0.1'
  through.port = String((proxy.address() as AddressInfo).port)
  url = through.href
})
beforeEach(() => {
  isHollow = false
  dialled = 0
})
afterAll(() => void proxy.close())

/** Longer than a busy machine needs for a statement. */
const hasty = { settings: { statement_timeout: '2000' }, silenceMarginMs: 500 }

/** Resets the connection of a running statement, and calls `then` as soon as the statement has failed. */
async function resetDuring<T>(sql: ReturnType<typeof openClient>, then: () => Promise<T>): Promise<T> {
  // On a new connection the first statement is not yet one of several in flight.
  await sql`select 1`
  const failed = sql`select pg_sleep(60)`.then(
    () => {
      throw new Error('It was not cut.')
    },
    (error: unknown) => {
      expect(isDatabaseUnavailable(error)).toBe(true)
      return then()
    },
  )
  const other = openClient(server.href, { schema: 'public', max: 1 })
  while ((await other`select 1 from pg_stat_activity where query like 'select pg_sleep(60)%'`).length === 0);
  await other.end()
  for (const client of clients) client.resetAndDestroy()
  return failed
}

test('a statement on a connection that has just been reset fails, and leaves no pipeline entry behind', async () => {
  const sql = openClient(url, { schema: 'public', max: 1 })
  const given = await resetDuring(sql, () => sql`select 'given' as said`.catch((error: unknown) => error))
  expect(isDatabaseUnavailable(given)).toBe(true)
  while ((await sql`select 1`.catch(() => [])).length === 0) await turn()
  const transaction = await sql.begin(async (tx) => [
    ...(await tx`select 'first' as said`),
    ...(await tx`select 'second' as said`),
  ])
  expect(transaction).toEqual([{ said: 'first' }, { said: 'second' }])
  expect([...(await sql`select 'last' as said`)]).toEqual([{ said: 'last' }])
  await sql.end({ timeout: 1 })
})

test('a connection that is silent for longer than the statement timeout is lost, and the next one is new', async () => {
  const sql = openClient(url, { schema: 'public', max: 1, ...hasty })
  await sql`select 1`
  const silenced = [...clients]
  for (const client of silenced) client.pause()
  const failure = await sql`select 'lost' as said`.catch((error: unknown) => error)
  expect(failure).toMatchObject({ code: 'CONNECTION_CLOSED' })
  expect([...(await sql`select 'new' as said`)]).toEqual([{ said: 'new' }])
  // Paused sockets do not notice that the other side is gone.
  for (const client of silenced) client.destroy()
  await sql.end({ timeout: 1 })
})

test('a connection is not lost while it is idle, or while statements have no timeout', async () => {
  const open = (settings = hasty.settings) =>
    openClient(server.href, { schema: 'public', max: 1, ...hasty, settings })
  const [idle, between, patient] = [open(), open(), open({ statement_timeout: '0' })]
  const backend = async (sql: Pick<typeof idle, 'unsafe'>) => [
    ...(await sql.unsafe('select pg_backend_pid()')),
  ]
  const before = await backend(idle)
  await between.begin(async (tx) => {
    const own = await backend(tx)
    await patient`select pg_sleep(3)`
    expect(await backend(tx)).toEqual(own)
  })
  expect(await backend(idle)).toEqual(before)
  await Promise.all([idle.end(), between.end(), patient.end()])
})

test('a server that ends each connection before it is ready is unavailable, and is not redialled in a loop', async () => {
  isHollow = true
  const sql = openClient(url, { schema: 'public', max: 1 })
  for (let statement = 1; statement <= 3; statement++) {
    const failure = await sql`select 1`.catch((error: unknown) => error)
    expect(isDatabaseUnavailable(failure)).toBe(true)
  }
  expect(dialled).toBe(3)
  await sql.end({ timeout: 1 })
})

test('waiting statements fail with the first connection attempt, and the next statement starts another', async () => {
  isHollow = true
  const sql = openClient(url, { schema: 'public', max: 2 })
  const failures = await Promise.all(
    Array.from({ length: 20 }, () => sql`select 1`.catch((error: unknown) => error)),
  )
  expect(failures.map(isDatabaseUnavailable)).toEqual(failures.map(() => true))
  expect(dialled).toBe(2)
  isHollow = false
  expect([...(await sql`select 'back' as said`)]).toEqual([{ said: 'back' }])
  await sql.end({ timeout: 1 })
})

test('statements keep waiting while another connection is alive', async () => {
  const sql = openClient(url, { schema: 'public', max: 2 })
  const said = (word: string) => sql`select ${word} as said`.then(([row]) => row?.said, isDatabaseUnavailable)
  let waiting: Promise<unknown>[] = []
  await sql.begin(async (tx) => {
    await tx`select 1`
    isHollow = true
    const [first, ...others] = ['dials', 'dials next', 'waits'].map(said)
    expect(await first).toBe(true)
    waiting = others
  })
  expect(await Promise.all(waiting)).toContain('waits')
  isHollow = false
  await sql.end({ timeout: 1 })
})

test('a statement that waits for the only connection is executed by the next one when that was cut', async () => {
  const sql = openClient(url, { schema: 'public', max: 1 })
  let waiting: Promise<unknown> | undefined
  const transaction = sql.begin(async (tx) => {
    await tx`select 1`
    waiting = sql`select 'waited' as said`.then(([row]) => row?.said)
    for (const client of clients) client.destroy()
    await tx`select 1`
  })
  await expect(transaction).rejects.toThrow()
  expect(await waiting).toBe('waited')
  await sql.end({ timeout: 1 })
})
