import { appendFileSync, cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test as everyTest, expect } from '@jest/globals'
import { type Cluster, databaseIn, openState, provisionAll, startCluster } from '@opsplane/local'
import { startEmbeddedNats } from '@opsplane/nats/embedded'
import { newInstallation } from '@opsplane/postgres'
import { pace, type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { createFamilies, type Families, hashDownload, readFamilies } from './backup-data.js'
import { createCliRunner } from './cli.js'
import { type Api, apiClient, startTestCluster } from './platform.js'
import { type WalArchive, walArchive } from './wal-archive.js'

/** A backup and restore of everything takes minutes, so these tests run only in test:long. */
const test = process.env.BACKUP_DRILLS === undefined ? everyTest.skip : everyTest

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let restored: Cluster | undefined
let wal: WalArchive
/** Proof reported by the first restore. */
let proved: Proved
let receiver: Receiver
let families: Families
let before: Record<string, unknown>
let file: string
/** Incidents that were accepted before the backup began. */
const accepted: string[] = []

const folder = mkdtempSync(join(tmpdir(), 'opsplane-backup-'))
const saved = join(folder, 'saved')
const detachedSaved = join(folder, 'detached')
const home = join(folder, 'home')

type Data<T> = { data: T }
interface Proved {
  rows: number
  services: object[]
}
interface Realigned {
  service: string
  lastPosition: number
  streamed: number
}
const create = async (api: Api, title: string) =>
  (await api<Data<{ id: string }>>('POST', '/itsm/incidents', { body: { title } })).body.data.id
const arrived = () =>
  receiver
    .received()
    .map(({ rawBody }) => (JSON.parse(rawBody.toString()) as { data: { title: string } }).data.title)

beforeAll(async () => {
  cluster = await startTestCluster()
  receiver = await startReceiver({
    tls: { key: cluster.certificate.key, cert: cluster.certificate.cert },
    respond: ({ headers }) => ({ status: headers['x-secret'] === 'sesame' ? 200 : 500 }),
  })
  const api = apiClient(cluster.info)
  families = await createFamilies(api, receiver.url)
  before = await readFamilies(api, families)
  file = await hashDownload(api, families.export)
})
afterAll(async () => {
  await restored?.stop()
  await cluster?.stop()
  await receiver?.stop()
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
})

/** The command-line tool, configured with the URLs of the servers. */
const cliOn = ({ info, secrets }: Pick<Cluster, 'info' | 'secrets'>) =>
  createCliRunner({
    ...{ HOME: folder, DATABASE_URL: info.postgresUrl, NATS_URL: info.natsUrl },
    OPSPLANE_MASTER_KEY: secrets.masterKey,
  })

/** Checks with the tool and the chain of the audit log; repeated, as the latest writes may be in flight. */
async function nothingIsMissing(cluster: Pick<Cluster, 'info' | 'secrets'>): Promise<void> {
  const cli = cliOn(cluster)
  await waitFor(
    async () => {
      const { code, stderr } = await cli.run(['restore', 'check'])
      expect({ code, problem: code === 0 ? '' : stderr }).toEqual({ code: 0, problem: '' })
      return true
    },
    { intervalMs: 250 },
  )
  const { data } = (await apiClient(cluster.info)<Data<{ valid: boolean }>>('GET', '/audit/verify')).body
  expect(data).toMatchObject({ valid: true })
}

async function asked<Row extends object>(url: string, text: string): Promise<Row[]> {
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  try {
    return [...(await sql.unsafe<Row[]>(text))]
  } finally {
    await sql.end()
  }
}

test('a backup is made under load, appears whole or not at all, and is verified', async () => {
  const api = apiClient(cluster.info)
  const cli = cliOn(cluster)
  for (const title of ['first', 'second']) accepted.push(await create(api, title))
  let loading = true
  const load = async () => {
    for (let n = 1; loading; n++) {
      await create(api, `load ${n}`)
      await pace(20)
    }
  }
  const loads = [load(), load()]
  const result = await cli.json<{ events: number; rows: number }>('backup', '--to', saved)
  loading = false
  await Promise.all(loads)
  expect(result.events).toBeGreaterThan(accepted.length)
  expect(readdirSync(folder)).toEqual(['saved'])

  const again = await cli.run(['backup', '--to', saved])
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('is there already')])
  const several = mkdtempSync(join(folder, 'several-'))
  mkdirSync(join(several, '2026-01-01T00-00-00Z'))
  const newest = await cli.json<{ folder: string; removed: string[] }>(
    'backup',
    '--into',
    several,
    '--keep',
    '1',
  )
  expect(newest.removed).toEqual(['2026-01-01T00-00-00Z'])
  expect(readdirSync(several).map((name) => join(several, name))).toEqual([newest.folder])
  rmSync(several, { recursive: true })
  const unreachable = createCliRunner({
    HOME: folder,
    DATABASE_URL: 'postgres://a@127.0.0.1:1/a',
    NATS_URL: cluster.info.natsUrl,
  })
  const away = await unreachable.run(['backup', '--to', join(folder, 'none')])
  expect([away.code, existsSync(join(folder, 'none')), existsSync(join(folder, 'none.partial'))]).toEqual([
    3,
    false,
    false,
  ])

  const verified = await cli.json<{ files: number; masterKeys: string[] }>('backup', 'verify', saved)
  expect(verified).toMatchObject({ files: expect.any(Number), masterKeys: [expect.any(String)] })
  const altered = join(folder, 'altered')
  cpSync(saved, altered, { recursive: true })
  appendFileSync(join(altered, 'rows', readdirSync(join(altered, 'rows'))[0] ?? ''), 'x')
  for (const args of [
    ['backup', 'verify', altered],
    ['restore', '--from', altered],
  ]) {
    const refused = await cli.run(args)
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/rows\/.* has \d+ bytes instead of \d+/),
    ])
  }
  rmSync(altered, { recursive: true })
})

test('a restore into an installation in use or without the master key is refused', async () => {
  const used = await cliOn(cluster).run(['restore', '--from', saved])
  expect([used.code, used.stderr]).toEqual([1, expect.stringContaining('Services are connected')])
  const wrong = createCliRunner({
    HOME: folder,
    DATABASE_URL: cluster.info.postgresUrl,
    NATS_URL: cluster.info.natsUrl,
  })
  const input = Buffer.alloc(32, 7).toString('base64')
  const refused = await wrong.run(['restore', '--from', saved, '--keys-stdin'], input)
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/sealed under master key .* Nothing was changed/),
  ])
})

test('a restore on the servers of the original becomes another installation, and the original is unchanged', async () => {
  const { info, secrets } = cluster
  const nats = await startEmbeddedNats({ storeDir: join(folder, 'nats-copy') })
  const adminUrl = Object.assign(new URL(info.postgresUrl), { pathname: '/copy' }).href
  const installation = newInstallation()
  const roles = () =>
    asked<{ name: string }>(
      info.postgresUrl,
      `select rolname as name from pg_roles where starts_with(rolname, '${secrets.installation.rolePrefix}')
      order by 1`,
    )
  const spaces = `select s.id, s.schema_name, array(select tablename::text from pg_tables where schemaname = s.schema_name order by 1) as tables
    from database_studio.spaces s order by 1`
  try {
    const [own, ownSpaces] = [
      await roles(),
      await asked(databaseIn(secrets.installation, 'database-studio', info.postgresUrl), spaces),
    ]
    await asked(info.postgresUrl, 'create database copy')
    await provisionAll(adminUrl, secrets.databasePasswords, installation)
    const result = await cliOn({ info: { ...info, postgresUrl: adminUrl, natsUrl: nats.url }, secrets }).run([
      'restore',
      '--from',
      saved,
    ])
    expect([result.code, result.stderr]).toEqual([0, expect.stringContaining('all databases are committed')])
    expect(ownSpaces.length).toBeGreaterThan(0)
    expect(await asked(databaseIn(installation, 'database-studio', adminUrl), spaces)).toEqual(ownSpaces)
    const owners = `select distinct pg_get_userbyid(relowner) ~ '^${installation.rolePrefix}' as own from pg_class c
      join database_studio.spaces s on s.schema_name = relnamespace::regnamespace::text`
    expect(await asked(databaseIn(installation, 'database-studio', adminUrl), owners)).toEqual([
      { own: true },
    ])
    expect(await roles()).toEqual(own)
    const id = await create(apiClient(info), 'goes on')
    expect(await asked(adminUrl, `select from itsm.incidents where id = '${id}'`)).toEqual([])
  } finally {
    await nats.stop()
  }
})

test('a destroyed installation is restored into an empty one, and continues to work', async () => {
  mkdirSync(home)
  for (const kept of ['secrets.json', 'tls'])
    cpSync(join(cluster.folder, kept), join(home, kept), { recursive: true })
  await cluster.stop()
  const delivered = arrived()
  const local = createCliRunner({ HOME: folder })
  const result = await local.run(['restore', '--from', saved, '--home', home, '--json'])
  expect([result.code, result.stderr]).toEqual([0, expect.stringContaining('all databases are committed')])
  proved = JSON.parse(result.stdout) as Proved
  const state = openState(home)
  wal = walArchive(join(folder, 'archive-of-wal'), state.postgresDir)
  restored = await startCluster({ state, postgresFlags: wal.postgresFlags })
  const api = apiClient(restored.info)
  expect(await readFamilies(api, families)).toEqual(before)
  expect(await hashDownload(api, families.export)).toBe(file)
  for (const id of accepted) expect((await api('GET', `/itsm/incidents/${id}`)).status).toBe(200)
  const login = await api('POST', '/auth/token', {
    body: { email: restored.info.email, password: restored.info.password },
    headers: { authorization: undefined, 'x-workspace': undefined },
  })
  expect(login.status).toBe(201)
  // Deliveries made before the backup are not sent again.
  const id = await create(api, 'after')
  await waitFor(() => arrived().includes('after'))
  const ofFamilies = (titles: string[]) => titles.filter((title) => title === 'Disk full').length
  expect(ofFamilies(arrived())).toBe(ofFamilies(delivered))
  expect(arrived().length).toBeGreaterThan(delivered.length)
  expect(id).not.toBe('')
})

test('a restored run, schedule, topic and row capture continue, and no data is missing', async () => {
  if (!restored) throw new Error('nothing was restored')
  const api = apiClient(restored.info)
  expect(
    (await api('POST', `/runs/${families.waiting}/resume`, { body: { decision: 'approve' } })).status,
  ).toBe(200)
  await waitFor(
    async () =>
      (await api<Data<{ status: string }>>('GET', `/runs/${families.waiting}`)).body.data.status ===
      'completed',
  )
  const ticks = async () =>
    (await api<Data<{ id: string }[]>>('GET', `/workflows/${families.scheduled}/runs?limit=1`)).body.data[0]
      ?.id
  const last = await ticks()
  await waitFor(async () => (await ticks()) !== last)
  const events = () => api<Data<{ id: string; payload: object }[]>>('GET', '/events/topics/orders/events')
  const [, , third] = (await events()).body.data
  await api('POST', '/events/topics/orders/publish', { body: { type: 'order.created', payload: { n: 4 } } })
  const next = await api<Data<{ payload: object }[]>>(
    'GET',
    `/events/topics/orders/events?after=${third?.id}`,
  )
  expect(next.body.data.map(({ payload }) => payload)).toEqual([{ n: 4 }])
  const run = (sql: string) => api('POST', '/queries/run', { body: { sql, mode: 'write' } })
  expect((await run(`insert into trips (goal, km) values ('Paris', 400)`)).status).toBe(200)
  expect((await run(`update trips set km = 500 where goal = 'Paris'`)).status).toBe(200)
  expect((await run(`insert into trips (goal, km) values ('Rome', -1)`)).status).toBe(422)
  const trips = await api<Data<Record<string, unknown>[]>>('GET', '/tables/trips/records')
  const paris = trips.body.data.find(({ goal }) => goal === 'Paris')
  expect(paris).toMatchObject({ version: 2, km: 500, twice: 10 })
  const types = async () => {
    const { data } = (await api<Data<{ type: string }[]>>('GET', `/audit?resourceId=${paris?.id}`)).body
    return data.map(({ type }) => type).toSorted()
  }
  await waitFor(async () => (await types()).join() === 'record.created,record.updated')
  await nothingIsMissing(restored)
})

test('after a point-in-time recovery of Postgres, the streams are realigned with the event logs', async () => {
  if (!restored) throw new Error('nothing was restored')
  const { info, services, postgres: server } = restored
  const api = apiClient(info)
  const cli = cliOn(restored)
  await wal.baseBackup(info.postgresUrl)
  const kept = await create(api, 'kept')
  const [now] = await asked<{ at: string }>(info.postgresUrl, 'select clock_timestamp()::text as at')
  const lost = await create(api, 'lost')
  await waitFor(() => arrived().includes('lost'))
  const refused = await cli.run(['restore', 'streams'])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('Services are connected')])

  await Promise.all(Object.values(services).map((service) => service.stop()))
  await server.stop()
  wal.recoverTo(String(now?.at))
  await server.start()
  // Postgres answers before it has reached the instant, and accepts no writes until it is promoted.
  await waitFor(
    async () => (await asked(info.postgresUrl, 'select where not pg_is_in_recovery()')).length > 0,
  )
  const realigned = await cli.json<Realigned[]>('restore', 'streams')
  const { lastPosition = 0, streamed = 0 } = realigned.find(({ service }) => service === 'itsm') ?? {}
  expect(streamed).toBeGreaterThan(lastPosition)

  const { gateway, ...backends } = services
  await Promise.all(Object.values(backends).map((service) => service.start()))
  await gateway.start()
  expect((await api('GET', `/itsm/incidents/${kept}`)).status).toBe(200)
  expect((await api('GET', `/itsm/incidents/${lost}`)).status).toBe(404)
  await create(api, 'recovered')
  await waitFor(() => arrived().includes('recovered'))
  const [next] = await asked<{ at: number }>(
    info.postgresUrl,
    `select min(position)::float8 as at from itsm.events where position > ${lastPosition}`,
  )
  // The position of a lost event is not assigned to another event.
  expect(next?.at).toBeGreaterThan(streamed)
  await nothingIsMissing(restored)
})

test('a detached month is compared with the audit log, and attached again', async () => {
  if (!restored) throw new Error('nothing was restored')
  const cli = cliOn(restored)
  const sql = postgres(restored.info.postgresUrl, { max: 1, onnotice: () => {} })
  try {
    // Makes three incidents appear to be created long ago: the month is encoded in the id.
    await sql.unsafe(`
      set search_path = itsm;
      select add_event_month('2025-03-01');
      create temp table moved as select id, 'evt_' || ulid_time(1741305600000 + position) || substr(id, 15) as old
        from events where type = 'incident.created' order by position limit 3;
      update events e set id = m.old from moved m where m.id = e.id;
      update settings.audit_log a set id = m.old, event = jsonb_set(a.event::jsonb, '{id}', to_jsonb(m.old))::json from moved m where m.id = a.id`)
    const detached = await cli.json<object[]>('log', 'detach', '--before', '2025-04')
    expect(detached).toEqual([
      { service: 'itsm', month: '2025-03', events: 3, table: 'itsm.detached_events_202503' },
    ])
    const rebuilt = await cli.run(['rebuild', '--service', 'itsm'])
    expect([rebuilt.code, rebuilt.stderr]).toEqual([
      1,
      expect.stringContaining('The months 2025-03 are detached'),
    ])
    expect(await cli.json('log', 'audit')).toMatchObject([{ month: '2025-03', events: 3 }])
    const [row] =
      await sql`select a.id, a.event::text as event from settings.audit_log a join moved m on m.old = a.id limit 1`
    await sql`update settings.audit_log set event = jsonb_set(event::jsonb, '{actor,name}', '"Mallory"')::json where id = ${row?.id}`
    const differs = await cli.run(['log', 'audit'])
    expect([differs.code, differs.stderr]).toEqual([
      1,
      expect.stringContaining(`${row?.id} in itsm.detached_events_202503`),
    ])
    await sql.unsafe(`update settings.audit_log set event = $1::text::json where id = $2`, [
      row?.event,
      row?.id,
    ])
    expect(await cli.json('log', 'attach')).toMatchObject([{ month: '2025-03', events: 3 }])
    expect((await cli.run(['rebuild', '--service', 'itsm'])).code).toBe(0)
    await cli.json('log', 'detach', '--before', '2025-04')
    // Restores the audit log's original ids, because a restore verifies the chain.
    await sql`update settings.audit_log a set id = m.id, event = jsonb_set(a.event::jsonb, '{id}', to_jsonb(m.id))::json
      from moved m where a.id = m.old`
    await cli.json('backup', '--to', detachedSaved)
  } finally {
    await sql.end()
  }
})

test('restore --force replaces existing data with that of the backup', async () => {
  await restored?.stop()
  restored = undefined
  const local = createCliRunner({ HOME: folder })
  const args = ['restore', '--from', saved, '--home', home, '--json']
  const refused = await local.run(args)
  expect([refused.code, refused.stderr]).toEqual([
    1,
    expect.stringMatching(/has events already.* --force replaces/),
  ])
  const forced = await local.run([...args, '--force'])
  expect([forced.code, forced.stderr]).toEqual([0, expect.stringContaining('all databases are committed')])
  const { rows, services } = JSON.parse(forced.stdout) as Proved
  expect({ rows, services }).toEqual({ rows: proved.rows, services: proved.services })
})

test('a backup contains detached months, and its restore skips the comparison that needs them attached', async () => {
  const args = ['restore', '--from', detachedSaved, '--home', home, '--force', '--json']
  expect(await createCliRunner({ HOME: folder }).run(args)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('itsm: read models not compared with the log, as 2025-03 are detached'),
  })
})
