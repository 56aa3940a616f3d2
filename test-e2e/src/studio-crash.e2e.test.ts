import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { findDatabaseUrl } from '@opsplane/local'
import { isLongTier, pace, type Receiver, seededRandom, startReceiver, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { listEventsInStream } from './event-trail.js'
import { type Api, type ApiAnswer, apiClient, startTestCluster } from './platform.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
let sql: postgres.Sql
let receiver: Receiver
beforeAll(async () => {
  cluster = await startTestCluster({
    services: ['database-studio', 'dispatcher'],
    extra: { NATS_ACK_WAIT_MS: '1000' },
  })
  api = apiClient(cluster.info)
  receiver = await startReceiver({
    tls: { key: cluster.certificate.key, cert: cluster.certificate.cert },
    respond: () => ({ status: 200 }),
  })
  const url = await findDatabaseUrl('database-studio', cluster.info.postgresUrl)
  sql = postgres(url, { max: 1, onnotice: () => {}, connection: { search_path: 'database_studio' } })
})
afterAll(async () => {
  await sql?.end({ timeout: 5 })
  await receiver?.stop()
  await cluster?.stop()
})

const kills = Math.max(2, Math.floor(Number(process.env.CRASH_KILLS ?? 0) / 10))
const partsEach = 20
const bulkSize = isLongTier() ? 50 : 20
/** Pause between two iterations of a loop, in ms: the test depends on requests being in flight, not on their number. */
const turnMs = isLongTier() ? 0 : 150
const patience = { intervalMs: 250 }

/** Repeats `act` until it is stopped; after a failure the next call uses other values. */
function keepDoing(act: (turn: number) => Promise<unknown>) {
  const state = { going: true, done: 0 }
  const running = (async () => {
    for (let turn = 0; state.going; turn++) {
      await act(turn).then(
        () => state.done++,
        () => undefined,
      )
      await pace(turnMs)
    }
  })()
  return {
    done: () => state.done,
    stop: async () => {
      state.going = false
      await running
    },
  }
}

async function must(method: 'POST' | 'PATCH', path: string, body: unknown): Promise<Record<string, unknown>> {
  const answer = await api<{ data: Record<string, unknown> }>(method, path, { body })
  if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}`)
  return answer.body.data
}

test(`${kills} kills of service and Postgres leave each change of schema and rows wholly there or absent`, async () => {
  await must('POST', '/tables', { slug: 'things', columns: [{ name: 'n', type: 'integer' }] })
  await must('POST', '/tables', {
    slug: 'parts',
    columns: [
      { name: 'n', type: 'integer' },
      { name: 'thing', type: 'reference', table: 'things' },
    ],
  })
  const acknowledged = new Set<string>()
  const alter = keepDoing((turn) =>
    must('PATCH', '/tables/things', {
      columns: { add: [{ name: `c${turn}`, type: 'text', default: 'x', unique: false }] },
      indexes: { add: [{ columns: [{ name: `c${turn}` }] }] },
      ...(turn % 5 === 4 && { checks: { add: [{ name: `k${turn}`, expression: `c${turn} <> 'never'` }] } }),
    }),
  )
  const make = keepDoing(async (turn) => {
    const made = await must('POST', '/tables/things/records', { n: turn })
    acknowledged.add(String(made.id))
    await must('PATCH', `/tables/things/records/${String(made.id)}`, { n: -turn })
  })
  const bulk = keepDoing((turn) =>
    must('POST', '/tables/things/records/bulk', {
      records: Array.from({ length: bulkSize }, () => ({ n: 1_000_000 + turn })),
    }),
  )
  const batched = new Set<number>()
  const batch = keepDoing(async (turn) => {
    const part = { op: 'create', table: 'parts', data: { n: turn, thing: { $as: 'thing' } } }
    const thing = { op: 'create', table: 'things', as: 'thing', data: { n: -1_000_000 - turn } }
    const operations = [thing, ...Array.from({ length: partsEach }, () => part)]
    await must('POST', '/tables/batch', { operations })
    batched.add(turn)
  })
  const loops = [alter, make, bulk, batch]
  try {
    for (let kill = 0; kill < kills; kill++) {
      const before = loops.map((loop) => loop.done())
      await waitFor(() => loops.every((loop, at) => loop.done() > (before[at] ?? 0)), patience)
      if (kill % 2 === 0) {
        await cluster.services['database-studio'].kill()
        await cluster.services['database-studio'].start()
      } else {
        await cluster.postgres.kill()
        await cluster.postgres.start()
      }
    }
  } finally {
    await Promise.all(loops.map((loop) => loop.stop()))
  }
  await waitFor(async () => (await sql`select from outbox limit 1`).length === 0, patience)
  await definitionIsTheTable()
  await journalIsTheRows(acknowledged)
  await bulksAreWhole()
  await batchesAreWhole(batched)
  const published = new Set(await listEventsInStream(cluster.info.natsUrl))
  const events = await sql<{ id: string }[]>`select id from events`
  expect(events.filter(({ id }) => !published.has(id))).toEqual([])
})

async function schemaOf(): Promise<string> {
  const [row] = await sql<{ name: string }[]>`
    select schema_name as name from spaces s where environment = 'production'
      and exists (select from captured_tables c where c.space_id = s.id)`
  return row?.name ?? ''
}

async function definitionIsTheTable(): Promise<void> {
  const [table] = await sql<{ columns: string[]; indexes: string[]; checks: string[]; version: number }[]>`
    select version, array(select c->>'name' from json_array_elements(state->'columns') c) as columns,
      array(select i->>'name' from json_array_elements(state->'indexes') i order by 1) as indexes,
      array(select k->>'name' from json_array_elements(state->'checks') k order by 1) as checks
    from tables where slug = 'things'`
  const relation = `${await schemaOf()}.things`
  const columns = await sql<{ name: string }[]>`
    select attname as name from pg_attribute where attrelid = ${relation}::regclass and attnum > 4 and not attisdropped
    order by attnum`
  expect(columns.map(({ name }) => name)).toEqual(table?.columns)
  const indexes = await sql<{ name: string }[]>`
    select relname as name from pg_index join pg_class on oid = indexrelid
    where indrelid = ${relation}::regclass and not indisprimary order by 1`
  expect(indexes.map(({ name }) => name)).toEqual(table?.indexes)
  const checks = await sql<{ name: string }[]>`
    select conname as name from pg_constraint
    where conrelid = ${relation}::regclass and contype = 'c' and conname like 'k%' order by 1`
  expect(checks.map(({ name }) => name)).toEqual(table?.checks)
  const [events] = await sql<{ n: number }[]>`
    select count(*)::int as n from events where stream_type = 'tables' and data#>>'{after,slug}' = 'things'`
  expect(events?.n).toBe(table?.version)
}

/** Checks that folding the journal gives the existing rows, and that versions have no gaps. */
async function journalIsTheRows(acknowledged: ReadonlySet<string>): Promise<void> {
  const folded = await sql<{ id: string; versions: number[]; n: number | null; version: number }[]>`
    select split_part(stream_id, '/', 2) as id, array_agg(version order by position) as versions,
      ((array_agg(data order by position desc))[1]#>>'{after,n}')::int as n,
      ((array_agg(data order by position desc))[1]#>>'{after,version}')::int as version
    from events where stream_type = 'record' and data->>'tableSlug' = 'things' group by 1 order by 1`
  for (const { versions } of folded) expect(versions).toEqual(versions.map((_, at) => at + 1))
  const rows = await sql.unsafe(`select id, n, version from ${await schemaOf()}.things order by id`)
  expect(folded.map(({ id, n, version }) => ({ id, n, version }))).toEqual([...rows])
  const there = new Set(folded.map(({ id }) => id))
  expect([...acknowledged].filter((id) => !there.has(id))).toEqual([])
}

async function bulksAreWhole(): Promise<void> {
  const bulks = await sql.unsafe<{ count: number }[]>(
    `select count(*)::int from ${await schemaOf()}.things where n >= 1000000 group by n`,
  )
  expect(bulks.length).toBeGreaterThan(0)
  expect(bulks.filter(({ count }) => count % bulkSize !== 0)).toEqual([])
}

/** Checks that each batch has created its thing and all its parts, or nothing; acknowledged batches exist. */
async function batchesAreWhole(acknowledged: ReadonlySet<number>): Promise<void> {
  const schema = await schemaOf()
  const things = await sql.unsafe<{ turn: number; parts: number[] }[]>(
    `select -1000000 - t.n as turn, array(select p.n from ${schema}.parts p where p.thing = t.id) as parts
     from ${schema}.things t where t.n <= -1000000`,
  )
  for (const { turn, parts } of things) expect(parts).toEqual(Array.from({ length: partsEach }, () => turn))
  const [all] = await sql.unsafe<{ count: number }[]>(`select count(*)::int as count from ${schema}.parts`)
  expect(all?.count).toBe(things.length * partsEach)
  const there = new Set(things.map(({ turn }) => turn))
  expect([...acknowledged].filter((turn) => !there.has(turn))).toEqual([])
  expect(acknowledged.size).toBeGreaterThan(0)
}

test('a migration interrupted by a crash of Postgres leaves no changes, and the next migration succeeds', async () => {
  const headers = { 'x-environment': 'staging' }
  const ask = async (method: 'GET' | 'POST' | 'DELETE', path: string, body?: unknown) => {
    const options = body === undefined ? { headers } : { headers, body }
    const answer = await api<{ data: { id: string; status: string } }>(method, path, options)
    return { status: answer.status, data: answer.body.data }
  }
  const wrote = async (name: string, up: string) => (await ask('POST', '/migrations', { name, up })).data.id
  const kept = await wrote('Kept', 'create table kept (n bigint)')
  expect((await ask('POST', `/migrations/${kept}/apply`, {})).status).toBe(200)
  const slow =
    'insert into kept (n) select count(*) from generate_series(1, 30000) a, generate_series(1, 30000) b'
  const killed = await wrote('Killed', `create table half (a text); insert into kept (n) values (1); ${slow}`)
  const answer = ask('POST', `/migrations/${killed}/apply`, { timeoutMs: 60_000 }).catch(() => undefined)
  await waitFor(
    () =>
      sql`select from pg_stat_activity where usename like ${'%\\_s\\_%\\_migrator'} and query like ${`${slow.slice(0, 60)}%`}`.then(
        (rows) => rows.length > 0,
      ),
    patience,
  )
  await cluster.postgres.kill()
  await cluster.postgres.start()
  expect((await answer)?.status ?? 500).toBeGreaterThanOrEqual(500)
  // Whether work is due depends on the database's clock; here the work is made due immediately.
  const isOver = async () => {
    await sql`update migration_runs set due_at = now()`
    return (await ask('GET', `/migrations/${killed}`)).data?.status === 'failed'
  }
  await waitFor(() => isOver().catch(() => false), patience)
  expect(await sql`select from pg_tables where tablename = 'half'`).toEqual([])
  const events = await sql`select type from events where environment = 'staging' order by position`
  expect(events.map(({ type }) => type)).toEqual([
    ...['migration.created', 'migration.applied', 'table.created', 'migration.created', 'migration.failed'],
  ])
  expect((await ask('DELETE', `/migrations/${killed}`)).status).toBe(204)
  const next = await wrote('Next', 'create table half (a text); insert into kept (n) values (2)')
  expect((await ask('POST', `/migrations/${next}/apply`, {})).status).toBe(200)
  const rows = await ask('GET', '/tables/kept/records')
  expect(rows.data).toMatchObject([{ n: '2', version: 1 }])
})

/** Ids of the rows whose events have arrived; may contain duplicates. */
const arrivedRows = () =>
  new Set(
    receiver
      .received()
      .map(({ rawBody }) => (JSON.parse(rawBody.toString()) as { data: { id: string } }).data.id),
  )

test('bulk requests and imports are complete and applied once after crashes, with all their events', async () => {
  const random = seededRandom(Number(process.env.CRASH_SEED ?? 20_261))
  const kills = Number(process.env.STUDIO_KILLS ?? 3)
  await must('POST', '/tables', { slug: 'rows', columns: [{ name: 'tag', type: 'text' }] })
  await must('POST', '/webhooks', {
    ...{ name: 'rows', url: `${receiver.url}/rows`, events: ['record.created'], retries: 20 },
    filter: { 'data.tableSlug': 'rows' },
  })
  const path = '/tables/rows/records'
  const [bulkRows, importRows] = isLongTier() ? [50, 200 * kills] : [20, 60 * kills]
  const studio = cluster.services['database-studio']
  let over = false
  let answered = 0

  const kill = async () => {
    for (let count = 0; count < kills; count++) {
      const victim = count % 3 === 2 ? cluster.postgres : studio
      const more = answered + Math.ceil(random() * 4)
      await waitFor(() => answered >= more)
      await victim.kill()
      await victim.start()
    }
    over = true
  }
  /** Repeats the request with its key until it is answered. */
  const insist = async (send: () => Promise<ApiAnswer>) => {
    for (;;) {
      const answer = await send().catch(() => undefined)
      if (answer && answer.status < 500 && answer.status !== 409) return answer
      await pace(50)
    }
  }
  const bulk = async (worker: number) => {
    const tags: string[] = []
    while (!over) {
      const tag = `bulk-${worker}-${tags.length}`
      tags.push(tag)
      const body = { records: Array.from({ length: bulkRows }, () => ({ tag })) }
      await insist(() => api('POST', `${path}/bulk`, { body, headers: { 'idempotency-key': tag } }))
      answered++
      await pace(isLongTier() ? 100 : 250)
    }
    return tags
  }
  const csv = `tag\n${'imported\n'.repeat(importRows)}`
  const begun = await api<{ data: { id: string } }>('POST', `${path}/import`, {
    rawBody: csv,
    headers: { 'content-type': 'text/csv' },
  })
  expect(begun.status).toBe(202)
  const [one, two] = await Promise.all([bulk(1), bulk(2), kill()])
  const tags = [...one, ...two]
  await waitFor(
    async () => {
      const { body } = await api<{ data: { status: string; written: number } }>(
        'GET',
        `/tables/rows/imports/${begun.body.data.id}`,
      )
      return body.data.status === 'completed' && body.data.written === importRows
    },
    // Work that a killed process had in flight is resumed after half a minute.
    { message: 'the import to end' },
  )
  const total = async (tag: string) => {
    const query = new URLSearchParams({ filter: JSON.stringify({ tag }), count: 'exact', limit: '1' })
    const { body } = await api<{ pagination: { total: number } }>('GET', `${path}?${query}`)
    return body.pagination.total
  }
  expect(await total('imported')).toBe(importRows)
  for (const tag of tags) expect([tag, await total(tag)]).toEqual([tag, bulkRows])
  const rows = importRows + tags.length * bulkRows
  await waitFor(() => arrivedRows().size >= rows, {
    message: 'an event of every row',
  })
  expect(arrivedRows().size).toBe(rows)
})
