import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { eventsInStream } from './event-trail.js'
import { type Api, apiClient, startTestCluster } from './platform.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let api: Api
let sql: postgres.Sql
beforeAll(async () => {
  cluster = await startTestCluster()
  api = apiClient(cluster.info)
  const url = new URL(cluster.info.postgresUrl)
  url.pathname = '/opsplane_data'
  sql = postgres(url.href, { max: 1, onnotice: () => {}, connection: { search_path: 'database_studio' } })
})
afterAll(async () => {
  await sql?.end({ timeout: 5 })
  await cluster?.stop()
})

const kills = Math.max(2, Math.floor(Number(process.env.CRASH_KILLS ?? 0) / 10))
const patience = { timeoutMs: 120_000, intervalMs: 250 }

/** Keeps doing `act` until it is stopped; what fails is done again with something else. */
function keepDoing(act: (turn: number) => Promise<unknown>) {
  const state = { going: true, done: 0 }
  const running = (async () => {
    for (let turn = 0; state.going; turn++) {
      await act(turn).then(
        () => state.done++,
        () => undefined,
      )
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

test(
  `${kills} kills of service and Postgres leave each change of schema and rows wholly there or absent`,
  async () => {
    await must('POST', '/tables', { slug: 'things', columns: [{ name: 'n', type: 'integer' }] })
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
        records: Array.from({ length: 50 }, () => ({ n: 1_000_000 + turn })),
      }),
    )
    try {
      for (let kill = 0; kill < kills; kill++) {
        const before = [alter.done(), make.done(), bulk.done()]
        await waitFor(
          () => [alter.done(), make.done(), bulk.done()].every((done, at) => done > (before[at] ?? 0)),
          patience,
        )
        if (kill % 2 === 0) {
          await cluster.services['database-studio'].kill()
          await cluster.services['database-studio'].start()
        } else {
          cluster.postgres.kill()
          await cluster.postgres.start()
        }
      }
    } finally {
      await Promise.all([alter.stop(), make.stop(), bulk.stop()])
    }
    await waitFor(async () => (await sql`select from outbox limit 1`).length === 0, patience)
    await definitionIsTheTable()
    await journalIsTheRows(acknowledged)
    await bulksAreWhole()
    const published = new Set(await eventsInStream(cluster.info.natsUrl))
    const events = await sql<{ id: string }[]>`select id from events`
    expect(events.filter(({ id }) => !published.has(id))).toEqual([])
  },
  300_000 + kills * 30_000,
)

async function schemaOf(): Promise<string> {
  const [row] = await sql<{ name: string }[]>`
    select schema_name as name from spaces s where exists (select from captured_tables c where c.space_id = s.id)`
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
  const [events] = await sql<
    { n: number }[]
  >`select count(*)::int as n from events where stream_type = 'tables'`
  expect(events?.n).toBe(table?.version)
}

/** Folding the journal gives the rows there are, with versions without gaps. */
async function journalIsTheRows(acknowledged: ReadonlySet<string>): Promise<void> {
  const folded = await sql<{ id: string; versions: number[]; n: number | null; version: number }[]>`
    select split_part(stream_id, '/', 2) as id, array_agg(version order by position) as versions,
      ((array_agg(data order by position desc))[1]#>>'{after,n}')::int as n,
      ((array_agg(data order by position desc))[1]#>>'{after,version}')::int as version
    from events where stream_type = 'record' group by 1 order by 1`
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
  expect(bulks.filter(({ count }) => count % 50 !== 0)).toEqual([])
}
