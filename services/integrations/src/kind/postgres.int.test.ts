import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import postgres, { type Sql } from 'postgres'
import { generate } from 'selfsigned'
import { buildCall, deadline, localOutbound, perform } from './call.fixture.js'
import type { Call, Kind } from './kind.js'
import { postgresKind } from './postgres.js'

const server = new URL(process.env.TEST_DATABASE_URL ?? '')
const password = decodeURIComponent(server.password)
const database = `connectors_${process.pid}`
const config = {
  ...{
    host: server.hostname,
    port: Number(server.port),
    user: decodeURIComponent(server.username),
    tls: 'disable',
  },
  ...{ database, password: '{{secrets.database}}' },
}

let admin: Sql
let sql: Sql
beforeAll(async () => {
  admin = postgres(server.href, { max: 1 })
  await admin.unsafe(`create database ${database}`)
  sql = postgres(Object.assign(new URL(server.href), { pathname: `/${database}` }).href, {
    max: 2,
    onnotice() {},
  })
})
afterAll(async () => {
  await sql?.end()
  await admin?.unsafe(`drop database if exists ${database} with (force)`)
  await admin?.end()
})

const closers: (() => unknown)[] = []
let kind: Kind
beforeEach(async () => {
  kind = kindWith()
  await sql.unsafe('drop table if exists items; create table items (id int primary key, name text not null)')
})
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

function kindWith(options: Parameters<typeof localOutbound>[0] = {}): Kind {
  const outbound = localOutbound(options)
  const made = postgresKind(outbound)
  closers.push(
    () => outbound.close(),
    () => made.close?.(),
  )
  return made
}
const call = (given: Partial<Call> & { secret?: string } = {}, change: object = {}) =>
  buildCall(kind, { ...config, ...change }, { secret: password, ...given })
const query = (input: object, of = call()) => perform(kind, 'query', of, input)
const execute = (input: object, of = call()) => perform(kind, 'execute', of, input)
const sessions = () =>
  sql`select pid, query from pg_stat_activity where application_name = 'opsplane' and datname = ${database}`

describe('a query', () => {
  it('returns rows with the types of their columns', async () => {
    const found = await query({
      sql: `select 1 as n, 9007199254740993::int8 as big, 1.50::numeric as price, 'a'::text as name, true as ok,
              null::text as nothing, '{"a":[1]}'::jsonb as doc, array['x','y'] as list,
              '2026-03-01 10:00:00.123456+02'::timestamptz as at, date '2026-03-01' as day, 2 as n`,
    })
    expect(found).toEqual({
      columns: [
        ...[
          ['n', 'integer'],
          ['big', 'bigint'],
          ['price', 'decimal'],
          ['name', 'text'],
          ['ok', 'boolean'],
        ],
        ...[
          ['nothing', 'text'],
          ['doc', 'json'],
          ['list', 'text[]'],
          ['at', 'timestamp'],
          ['day', 'date'],
        ],
        ['n_2', 'integer'],
      ].map(([name, type]) => ({ name, type })),
      rows: [
        {
          ...{ n: 1, big: '9007199254740993', price: '1.50', name: 'a', ok: true, nothing: null, n_2: 2 },
          ...{ doc: { a: [1] }, list: ['x', 'y'], at: '2026-03-01T08:00:00.123456Z', day: '2026-03-01' },
        },
      ],
      ...{ rowCount: 1, truncated: null },
    })
  })

  it('binds parameters by the types that Postgres reports or the caller declares', async () => {
    const reported = {
      sql: 'select $1::int + 1 as a, $2::jsonb as b, $3::text[] as c',
      parameters: [4, { x: [1] }, ['p', null]],
    }
    expect(await query(reported)).toMatchObject({ rows: [{ a: 5, b: { x: [1] }, c: ['p', null] }] })
    const typed = {
      sql: 'select $1 as a, $2 as b, $3 as c, $4 as d, $5 as e, $6 as f, $7 as g',
      parameters: [1, true, { x: 'y' }, '2026-03-01T10:00:00Z', [1, 2], null, '2026-03-01'],
      types: ['integer', 'boolean', 'json', 'timestamp', 'bigint[]', 'uuid', 'date'],
    }
    expect(await query(typed)).toMatchObject({
      rows: [
        {
          a: 1,
          b: true,
          c: { x: 'y' },
          d: '2026-03-01T10:00:00.000Z',
          e: ['1', '2'],
          f: null,
          g: '2026-03-01',
        },
      ],
    })
  })

  it('reports the parameter that does not match its type', async () => {
    const wrong = { sql: 'select $1', parameters: [['a']], types: ['integer'] }
    await expect(query(wrong)).rejects.toMatchObject({
      code: 'validation_failed',
      details: [{ path: '/input/parameters/0', message: expect.stringContaining('integer') }],
    })
  })

  it('is truncated at the limit of rows or bytes, and reports which limit', async () => {
    const many = { sql: 'select generate_series(1, 1000000000)', maxRows: 70 }
    expect(await query(many)).toMatchObject({ rowCount: 70, truncated: 'rows' })
    const long = await query({ sql: "select repeat('x', 300000) from generate_series(1, 10)" })
    expect(long).toMatchObject({ rowCount: 3, truncated: 'bytes' })
    await expect(query({ sql: "select repeat('x', 100000000)" })).rejects.toMatchObject({
      name: 'CallFailure',
    })
    expect(await query({ sql: 'show server_encoding' })).toMatchObject({
      rows: [{ server_encoding: 'UTF8' }],
    })
  })

  it('changes nothing, whatever its SQL', async () => {
    await sql.unsafe(`create or replace function sneak() returns int language plpgsql as
      $$ begin insert into items values (1, 'a'); return 1; end $$`)
    for (const text of [
      "insert into items values (1, 'a')",
      'select sneak()',
      'drop table items',
      "do $$ begin set transaction read write; insert into items values (1, 'a'); end $$",
    ])
      await expect(query({ sql: text })).rejects.toMatchObject({
        kind: 'answered',
        message: expect.stringMatching(/2500[16]/),
      })
    await query({ sql: 'commit' })
    expect(await sql`select * from items`).toEqual([])
  })

  it('allows only one statement', async () => {
    for (const text of [
      "select 1; insert into items values (1, 'a')",
      "commit; insert into items values (1, 'a')",
    ])
      await expect(query({ sql: text })).rejects.toMatchObject({
        message: expect.stringContaining('SQLSTATE 42601'),
      })
    await expect(query({ sql: 'copy items to stdout' })).rejects.toMatchObject({ code: 'validation_failed' })
    await expect(query({ sql: '/* so */ copy items from stdin' })).rejects.toMatchObject({
      name: 'CallFailure',
    })
    expect(await sql`select * from items`).toEqual([])
  })

  it('reports the error of Postgres with its position', async () => {
    const failed = await query({ sql: 'select nothing from items' }).catch((error: unknown) => error)
    expect(failed).toMatchObject({ kind: 'answered', sent: false, status: undefined })
    expect(String(failed)).toContain('column "nothing" does not exist (SQLSTATE 42703 at character 8)')
    const body = JSON.parse((failed as { body: string }).body)
    expect(body).toMatchObject({ sqlState: '42703', position: 8 })
  })
})

describe('a statement', () => {
  it('is committed, and returns its rows and the number of affected rows', async () => {
    const text = "insert into items select n, 'item ' || n from generate_series(1, 120) n returning id, name"
    const made = await execute({ sql: text, maxRows: 2 })
    expect(made).toMatchObject({
      affected: 120,
      truncated: 'rows',
      rows: [{ id: 1, name: 'item 1' }, { id: 2 }],
    })
    expect(
      await execute({ sql: 'update items set name = $1 where id < $2', parameters: ['x', 11] }),
    ).toMatchObject({
      ...{ affected: 10, rows: [], columns: [] },
    })
    expect(await execute({ sql: 'create index on items (name)' })).toMatchObject({ affected: 0 })
    expect(
      await sql`select count(*)::int as n, count(*) filter (where name = 'x')::int as x from items`,
    ).toEqual([{ n: 120, x: 10 }])
  })

  it('changes nothing when it fails, even when it fails at commit', async () => {
    await sql.unsafe('alter table items add constraint once unique (name) deferrable initially deferred')
    const twice = { sql: "insert into items values (1, 'a'), (2, 'a')" }
    await expect(execute(twice)).rejects.toMatchObject({
      message: expect.stringContaining('23505'),
      sent: false,
    })
    expect(await sql`select * from items`).toEqual([])
  })

  it('is refused by a read-only connector', async () => {
    const reading = call({}, { readOnly: true })
    await expect(execute({ sql: 'drop table items' }, reading)).rejects.toMatchObject({
      kind: 'answered',
      sent: false,
    })
    expect(await query({ sql: 'select 1 as n' }, reading)).toMatchObject({ rows: [{ n: 1 }] })
  })

  it('leaves no settings, tables or locks in the session', async () => {
    await execute({ sql: "set application_name = 'opsplane'" })
    await execute({ sql: "set statement_timeout = '7s'" })
    await execute({ sql: 'create temp table mine as select 1' })
    await execute({ sql: 'select pg_advisory_lock(5)' })
    expect(await query({ sql: "select current_setting('statement_timeout') <> '7s' as ours" })).toMatchObject(
      {
        rows: [{ ours: true }],
      },
    )
    await expect(query({ sql: 'select * from mine' })).rejects.toMatchObject({ name: 'CallFailure' })
    const locks = () => sql`select 1 from pg_locks l join pg_database d on d.oid = l.database
      where d.datname = ${database} and locktype = 'advisory'`
    await waitFor(async () => (await locks()).length === 0)
  })

  it('can be retried after a serialization failure', async () => {
    const failing = { sql: "do $$ begin raise exception 'again' using errcode = '40001'; end $$" }
    await expect(execute(failing)).rejects.toMatchObject({ kind: 'answered', sent: false, status: 429 })
  })
})

describe('a call that has ended', () => {
  it.each(['pass', 'leave'] as const)('is cancelled on the server: %s', async (end) => {
    const over = deadline()
    const running = query({ sql: 'select pg_sleep(600)' }, call({ signal: over.signal }))
    const failed = expect(running).rejects.toMatchObject({ kind: end === 'pass' ? 'timeout' : 'cancelled' })
    await waitFor(async () => (await sessions()).some(({ query: text }) => text.includes('pg_sleep')))
    over[end]()
    await failed
    await waitFor(async () => (await sessions()).length === 0)
    expect(await query({ sql: 'select 1 as n' })).toMatchObject({ rows: [{ n: 1 }] })
  })

  it('is cancelled by the server itself when its time is up', async () => {
    const short = call({ remainingMs: () => 500 })
    await query({ sql: 'select 1' })
    await expect(query({ sql: 'select pg_sleep(600)' }, short)).rejects.toMatchObject({
      kind: 'timeout',
      sent: false,
    })
  })

  it('leaves no changes when it was cancelled', async () => {
    const over = deadline()
    const slow = "insert into items select 1, 'a' from pg_sleep(600)"
    const running = execute({ sql: slow }, call({ signal: over.signal }))
    const failed = expect(running).rejects.toMatchObject({ kind: 'timeout' })
    await waitFor(async () => (await sessions()).some(({ query: text }) => text.startsWith('insert')))
    over.pass()
    await failed
    await waitFor(async () => (await sessions()).length === 0)
    expect(await sql`select * from items`).toEqual([])
  })
})

describe('sessions', () => {
  it('are pooled and reused, at most four per connector', async () => {
    await Promise.all(Array.from({ length: 12 }, () => query({ sql: 'select pg_sleep(0.01)' })))
    const open = await sessions()
    expect(open.length).toBeGreaterThan(0)
    expect(open.length).toBeLessThanOrEqual(4)
    const pids = open.map(({ pid }) => pid)
    const [row] = ((await query({ sql: 'select pg_backend_pid() as pid' })) as { rows: { pid: number }[] })
      .rows
    expect(pids).toContain(row?.pid)
  })

  it('are not shared between different passwords', async () => {
    await query({ sql: 'select 1' })
    const failed = await query({ sql: 'select 1' }, call({ secret: 'wrong-p4ss' })).catch(
      (error: unknown) => error,
    )
    expect(failed).toMatchObject({
      kind: 'answered',
      sent: false,
      status: undefined,
      message: expect.stringContaining('28P01'),
    })
    expect(`${failed}${(failed as { body: string }).body}`).not.toContain('wrong-p4ss')
  })

  it('are replaced after their connection is lost', async () => {
    await query({ sql: 'select 1' })
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'opsplane' and datname = ${database}`
    await waitFor(async () => (await sessions()).length === 0)
    expect(await query({ sql: 'select 1 as n' })).toMatchObject({ rows: [{ n: 1 }] })
  })

  it('are closed with the connector kind', async () => {
    await query({ sql: 'select 1' })
    await kind.close?.()
    await waitFor(async () => (await sessions()).length === 0)
  })
})

describe('a test', () => {
  it('reports the server version, the user and the database', async () => {
    expect(await kind.test(call())).toBe(
      `PostgreSQL ${(await sql`show server_version`)[0]?.server_version} lets ${config.user} use ${database}.`,
    )
  })

  it.each([
    ['a database that is not there', { database: 'none' }, 'answered', '3D000'],
    ['a host that must not be called', { host: '10.0.0.1' }, 'blocked', 'special address'],
    ['a port without a listener', { port: 1 }, 'blocked', 'Port 1'],
    ['a server without TLS', { tls: 'require' }, 'unreachable', 'no TLS'],
  ])('fails with %s', async (_name, change, failure, words) => {
    await expect(kind.test(call({}, change))).rejects.toMatchObject({
      kind: failure,
      message: expect.stringContaining(words),
    })
  })
})

describe('TLS', () => {
  let key: string
  let cert: string
  let port: number
  let front: Server
  const sockets = new Set<Socket>()
  beforeAll(async () => {
    const extensions = [
      { name: 'subjectAltName' as const, altNames: [{ type: 2 as const, value: 'db.example' }] },
    ]
    ;({ private: key, cert } = await generate([{ name: 'commonName', value: 'db.example' }], { extensions }))
    // Acts as a TLS server in front of the server without TLS.
    front = createServer((socket) => {
      socket.on('error', () => {})
      sockets.add(socket)
      socket.once('data', () =>
        socket.write('S', () => {
          const secure = new TLSSocket(socket, { isServer: true, key, cert })
          const upstream = connect(Number(server.port), server.hostname)
          for (const each of [secure, upstream]) each.on('error', () => {})
          secure.pipe(upstream).pipe(secure)
        }),
      )
    }).listen(0, '127.0.0.1')
    await once(front, 'listening')
    port = (front.address() as AddressInfo).port
  })
  afterAll(() => {
    for (const socket of sockets) socket.destroy()
    front.close()
  })
  const named = () => kindWith({ resolve: async () => [{ address: '127.0.0.1', family: 4 }] })
  const over = (change: object) =>
    buildCall(kind, { ...config, host: 'db.example', port, ...change }, { secret: password })

  it('verifies the host name and the certificate authority', async () => {
    kind = named()
    expect(await query({ sql: 'select 1 as n' }, over({ tls: 'verify-full', ca: cert }))).toMatchObject({
      rows: [{ n: 1 }],
    })
    expect(await query({ sql: 'select 1 as n' }, over({ tls: 'require' }))).toMatchObject({
      rows: [{ n: 1 }],
    })
    for (const change of [{ tls: 'verify-full' }, { tls: 'verify-full', ca: cert, host: 'other.example' }])
      await expect(query({ sql: 'select 1' }, over(change))).rejects.toMatchObject({ kind: 'unreachable' })
  })
})
