import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '@opsplane/local'
import postgres from 'postgres'
import { Agent, request } from 'undici'
import { createCallerHeaders, toService } from '../limits/callers.js'
import { median } from '../load.js'
import { openData } from '../records/record-rows.js'
import type { Figure } from '../report.js'
import type { MeasureOptions } from './creates.js'
import { consumersCaughtUp } from './pipeline.js'

const rowsEach = 1_000
const connections = 4
const rounds = 3
const goal = 50_000

const columns = [
  { name: 'name', type: 'text' },
  { name: 'serial', type: 'text' },
  { name: 'quantity', type: 'integer' },
  { name: 'price', type: 'decimal', precision: 12, scale: 2 },
  { name: 'active', type: 'boolean' },
  { name: 'bought_on', type: 'date' },
  { name: 'counter', type: 'bigint' },
  { name: 'notes', type: 'text' },
]

/** Records of 8 columns and about 200 bytes. */
const records = Array.from({ length: rowsEach }, (_, at) => ({
  name: `Asset number ${at}`,
  serial: `SN-${at}-abcdef`,
  quantity: at,
  price: `${at}.50`,
  active: at % 2 === 0,
  bought_on: '2026-03-02',
  counter: String(at * 1_000),
  notes: 'n'.repeat(80),
}))

/**
 * Measures bulk creates at the service's own port, including history and events, compared with inserts of the same
 * rows by postgres.js.
 */
export async function measureBulk({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  const caller = toService(cluster, 'database-studio', ['tables:write', 'records:write'])
  const login = createCallerHeaders(caller)
  const agent = new Agent({ connections })
  const post = async (path: string, body: string) => {
    const headers = { ...(await login()), 'content-type': 'application/json' }
    const answer = await request(`${caller.url}${path}`, { method: 'POST', headers, body, dispatcher: agent })
    const text = await answer.body.text()
    if (answer.statusCode !== 201)
      throw new Error(`${path} answered ${answer.statusCode}: ${text.slice(0, 300)}`)
  }
  await post('/tables', JSON.stringify({ slug: 'bench_bulk', columns }))
  const bulk = JSON.stringify({ records })

  const sql = postgres(cluster.info.postgresUrl, { max: connections, onnotice: () => {} })
  await sql.unsafe(`drop table if exists bench_bulk; create table bench_bulk (id bigserial primary key, name text, serial text,
    quantity integer, price numeric(12, 2), active boolean, bought_on date, counter bigint, notes text)`)
  const insert = () => sql`insert into bench_bulk ${sql(records)}`

  const [made, inserted]: [number[], number[]] = [[], []]
  try {
    await Promise.all([during(1, () => post('/tables/bench_bulk/records/bulk', bulk)), during(1, insert)])
    for (let round = 1; round <= rounds; round++) {
      await settled(cluster)
      inserted.push(await during(seconds / 2, insert))
      made.push(await during(seconds / 2, () => post('/tables/bench_bulk/records/bulk', bulk)))
      say(
        `  round ${round}: ${inserted.at(-1)?.toFixed(0)} rows/s inserted, ${made.at(-1)?.toFixed(0)} created`,
      )
    }
  } finally {
    await agent.close()
    await sql.unsafe('drop table bench_bulk')
    await sql.end({ timeout: 5 })
  }
  const [perSecond, limit] = [median(made), median(inserted)]
  return [
    {
      name: 'bulk creates, with history and events',
      value: `${perSecond.toFixed(0)} rows/s`,
      raw: `${limit.toFixed(0)} rows/s plain inserts by postgres.js`,
      ratio: perSecond / limit,
      goal: `≥ ${goal.toLocaleString('en')} rows/s`,
      met: perSecond >= goal,
    },
  ]
}

/** Waits until the created records are published and consumed; otherwise that work would take CPU from the raw limit. */
async function settled(cluster: Cluster): Promise<void> {
  const data = openData(cluster)
  try {
    while ((await data`select from outbox limit 1`).length > 0) await delay(200)
  } finally {
    await data.end()
  }
  await consumersCaughtUp(cluster)
}

/** Rows per second over several concurrent connections; each call of `act` inserts `rowsEach` rows. */
async function during(seconds: number, act: () => PromiseLike<unknown>): Promise<number> {
  const startedAt = performance.now()
  const until = startedAt + seconds * 1_000
  let calls = 0
  const run = async () => {
    while (performance.now() < until) {
      await act()
      calls++
    }
  }
  await Promise.all(Array.from({ length: connections }, run))
  return (calls * rowsEach * 1_000) / (performance.now() - startedAt)
}
