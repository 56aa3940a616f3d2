import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { connect } from '@opsplane/postgres'
import { createDatabase, type TestDatabase, templateDatabase, testLogin, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { databaseStudio } from '../service.js'
import { createDataPlane, type DataPlane } from './data-plane.js'
import { derivePassword } from './logins.js'
import { roleOfSpace, type Space, type SpaceRole } from './space.js'

const actor = { id: 'usr_1', name: 'Ann', type: 'user' as const }
const acting = { actor, requestId: 'request-1' }
const tenant = { workspaceId: 'ws_1', environment: 'production' as const }

let testDatabase: TestDatabase
let service: ReturnType<typeof connect>
let admin: postgres.Sql
let plane: DataPlane
let url: string
beforeAll(async () => {
  const provision = (adminUrl: string) => databaseStudio.provision({ adminUrl, ...testLogin })
  testDatabase = await createDatabase(
    await templateDatabase('database-studio', async (adminUrl) => void (await provision(adminUrl))),
  )
  url = await provision(testDatabase.url)
  service = connect(url, { schema: 'database_studio' })
  admin = postgres(testDatabase.url, {
    max: 1,
    onnotice: () => {},
    connection: { search_path: 'database_studio' },
  })
  plane = planeOf(8)
})
afterAll(async () => {
  await plane.close()
  await service.close()
  await admin.end()
  await testDatabase.drop()
})

function planeOf(dataSessions: number, wake = () => {}, database = service): DataPlane {
  const config = { ...databaseStudio.loadConfig(variables()), dataSessions }
  return createDataPlane({ config, database, relay: { wake } })
}

const variables = () => ({
  DATABASE_URL: url,
  SERVICE_PRIVATE_KEY: 'none',
  TRUSTED_SERVICE_KEYS: '{}',
  CURSOR_SECRET: 'a secret of at least 32 characters',
})

const whoAmI = (space: Space, role: 'runtime' | 'reader' | 'migrator') =>
  plane.session(space, role, { deadlineMs: 10_000 }, async ({ sql }) => {
    const [row] = await sql<
      { login: string; acts: string }[]
    >`select session_user as login, current_user as acts`
    return row
  })

describe('a space', () => {
  test('is created once per workspace and environment under concurrent requests', async () => {
    const [first, ...others] = await Promise.all(
      [planeOf(2), planeOf(2), plane].map((each) => each.space(tenant)),
    )
    expect(others).toEqual([first, first])
    const staging = await plane.space({ ...tenant, environment: 'staging' })
    expect(staging.schema).not.toBe(first?.schema)
  })

  test('has a login for each role, and the migrator acts as the owner', async () => {
    const space = await plane.space(tenant)
    const role = (kind: SpaceRole | 'owner') => roleOfSpace(space, kind)
    expect(await whoAmI(space, 'runtime')).toEqual({ login: role('runtime'), acts: role('runtime') })
    expect(await whoAmI(space, 'reader')).toEqual({ login: role('reader'), acts: role('reader') })
    expect(await whoAmI(space, 'migrator')).toEqual({ login: role('migrator'), acts: role('owner') })
  })

  test("restores the platform's access after a tenant changes the password or settings of its login", async () => {
    const space = await plane.space({ workspaceId: 'ws_changing', environment: 'production' })
    const login = roleOfSpace(space, 'runtime')
    for (const change of [
      `password 'mine'`,
      'set default_transaction_read_only = on',
      'in database current set work_mem = 64',
    ]) {
      const text = `alter role ${login} ${change}`.replace('current', new URL(url).pathname.slice(1))
      await admin.unsafe(text)
      const own = planeOf(2)
      await own.session(space, 'runtime', { deadlineMs: 10_000 }, async ({ sql }) => {
        const [row] =
          await sql`select current_setting_of.setting from (select 'x' as setting) current_setting_of`
        expect(row).toEqual({ setting: 'x' })
      })
      await own.close()
      const [settings] = await admin`select rolconfig from pg_roles where rolname = ${login}`
      expect(settings).toEqual({ rolconfig: ['temp_file_limit=256MB'] })
    }
  })
})

describe('the actor of a transaction', () => {
  const whoActs = () =>
    admin<{ acting: unknown }[]>`select acting from plane_sessions where xid is not null order by pid`

  test('is authenticated once for each transaction', async () => {
    const space = await plane.space(tenant)
    const result = await plane.write(space, acting, async (tx) => {
      const [row] = await tx.unsafe<{ n: number }[]>('select 1 as n')
      return row?.n
    })
    expect(result).toBe(1)
    expect(await whoActs()).toContainEqual({
      acting: { actor, requestId: 'request-1', causationId: null, source: null },
    })
    const [one] = await plane.writeOne(space, acting, (proof) => ({
      text: `select a as done, $4::text as given from ${proof} a`,
      parameters: ['value'],
    }))
    expect(one).toEqual({ done: true, given: 'value' })
  })

  test("cannot be set by tenants' SQL, and its proof cannot be replayed", async () => {
    const space = await plane.space(tenant)
    await plane.session(space, 'runtime', { deadlineMs: 10_000 }, async ({ sql }) => {
      const made = sql.unsafe('select studio.acting(99, $1, $2)', ['{}', 'f'.repeat(64)])
      await expect(made).rejects.toMatchObject({ code: '42501' })
    })
    const key = Buffer.from((await admin`select encode(key, 'hex') as key from plane_keys`)[0]?.key, 'hex')
    const password = derivePassword(key, space.schema, 'runtime')
    const own = postgres(url, { max: 1, user: roleOfSpace(space, 'runtime'), password, fetch_types: false })
    const { createHmac } = await import('node:crypto')
    const [entered] = await own`select nonce from studio.enter()`
    const proof = ['1', '{}', createHmac('sha256', key).update(`${entered?.nonce}\n1\n{}`).digest('hex')]
    await own.unsafe('select studio.acting($1, $2, $3)', proof)
    await expect(own.unsafe('select studio.acting($1, $2, $3)', proof)).rejects.toMatchObject({
      code: '42501',
    })
    const [again] = await own`select nonce, sequence from studio.enter()`
    expect(again).toEqual({ nonce: entered?.nonce, sequence: '1' })
    await own.end()
  })
})

test('the relay is woken by transactions that may have changed rows, and not by reads', async () => {
  const space = await plane.space(tenant)
  const deadline = { deadlineMs: 10_000 }
  let woken = 0
  const own = planeOf(4, () => woken++)
  await own.read(space, (sql) => sql.unsafe('select 1'))
  await own.session(space, 'reader', deadline, async ({ sql }) => void (await sql.unsafe('select 1')))
  expect(woken).toBe(0)
  await own.write(space, acting, (tx) => tx.unsafe('select 1'))
  await own.writeOne(space, acting, (proof) => ({ text: `select 1 from ${proof}`, parameters: [] }))
  await own.session(space, 'runtime', deadline, async ({ sql }) => void (await sql.unsafe('select 1')))
  await own.session(space, 'migrator', deadline, async ({ sql }) => void (await sql.unsafe('select 1')))
  expect(woken).toBe(4)
  await own.close()
})

describe('sessions', () => {
  test('are reset before the next user', async () => {
    const space = await plane.space({ workspaceId: 'ws_reset', environment: 'production' })
    const pids = new Set<number>()
    for (let round = 0; round < 5; round++)
      await plane.session(space, 'runtime', { deadlineMs: 10_000 }, async ({ sql, pid }) => {
        pids.add(pid)
        const [shown] = await sql.unsafe('show work_mem')
        expect(shown).not.toEqual({ work_mem: '77kB' })
        await sql.unsafe(`set work_mem = '77kB'`)
      })
    expect(pids.size).toBeLessThan(5)
  })

  test('of many workspaces share a few connections, and every workspace is served', async () => {
    const [count, limit] = [Number(process.env.TEST_SPACES ?? 30), process.env.TEST_SPACES ? 80 : 4]
    const own = planeOf(limit)
    const spaces: Space[] = []
    for (let at = 0; at < count; at++)
      spaces.push(await own.space({ workspaceId: `ws_many_${at}`, environment: 'production' }))
    let most = 0
    let served = 0
    const use = async (space: Space) => {
      await own.read(space, async (sql) => {
        most = Math.max(most, own.counts().open)
        const [row] = await sql.unsafe<{ name: string }[]>('select session_user as name')
        expect(row?.name).toBe(roleOfSpace(space, 'reader'))
        served++
      })
    }
    const [first] = spaces
    // A tenant that keeps requesting connections does not starve the others.
    const busy = Array.from({ length: count * 5 }, () => use(first as Space))
    await Promise.all([...spaces, ...spaces].map(use))
    await Promise.all(busy)
    expect(served).toBe(count * 7)
    expect(most).toBeLessThanOrEqual(limit)
    // Connections that were closed to make room for others may still be terminating.
    await waitFor(async () => {
      const [row] =
        await admin`select count(*)::int as n from pg_stat_activity where application_name like 'opsplane-tenant%'
        and datname = current_database()`
      return row?.n <= limit + plane.counts().open
    })
    await own.close()
    expect(own.counts()).toEqual({ open: 0, idle: 0, waiting: 0 })
  })

  test('that were cancelled are not reused, because the cancellation may arrive late', async () => {
    const space = await plane.space(tenant)
    let arrive = () => {}
    const late = new Promise<void>((resolve) => {
      arrive = resolve
    })
    let ended: Promise<unknown> | undefined
    const sql: typeof service.sql = Object.create(service.sql, {
      unsafe: {
        value: (...given: Parameters<typeof service.sql.unsafe>) => {
          if (!given[0].includes('end_session')) return service.sql.unsafe(...given)
          ended = late.then(() => service.sql.unsafe(...given))
          return ended
        },
      },
    })
    const own = planeOf(2, () => {}, { ...service, sql })
    const leaving = new AbortController()
    await own.session(space, 'reader', { deadlineMs: 60_000, signal: leaving.signal }, async ({ sql }) => {
      await sql.unsafe('select 1')
      leaving.abort()
    })
    await admin.unsafe(`create table ${space.schema}.held (n int)`)
    await admin.unsafe(`grant select on ${space.schema}.held to ${roleOfSpace(space, 'reader')}`)
    await own.session(space, 'reader', { deadlineMs: 60_000 }, async ({ sql, pid }) => {
      const running = await admin.begin(async (tx) => {
        await tx.unsafe(`lock table ${space.schema}.held`)
        const counting = sql.unsafe('select count(*)::int as n from held').execute()
        await waitFor(
          async () => (await tx`select from pg_locks where pid = ${pid} and not granted`).length > 0,
        )
        arrive()
        await ended
        return { counting }
      })
      expect([...(await running.counting)]).toEqual([{ n: 0 }])
    })
    await own.close()
  })

  test('are terminated from outside, whatever settings their SQL has changed', async () => {
    // The query writes no temporary files, which are limited in size.
    const endless = `select count(*) from ${['a', 'b', 'c', 'd'].map((name) => `generate_series(1, 10000) ${name}`)}`
    const space = await plane.space(tenant)
    const slow = plane.session(space, 'runtime', { deadlineMs: 200 }, async ({ sql }) => {
      await sql.unsafe('set statement_timeout = 0')
      await sql.unsafe(endless)
    })
    await expect(slow).rejects.toMatchObject({ code: 'upstream_timeout' })
    const leaving = new AbortController()
    const left = plane.session(
      space,
      'reader',
      { deadlineMs: 60_000, signal: leaving.signal },
      async ({ sql }) => {
        const running = sql.unsafe(endless)
        leaving.abort()
        await running
      },
    )
    // A statement that was cancelled before it began is stopped by ending its session.
    await expect(left).rejects.toHaveProperty(
      'code',
      expect.stringMatching(/^(57014|57P01|CONNECTION_CLOSED)$/),
    )
  })
})
