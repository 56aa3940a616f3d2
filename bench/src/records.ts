import autocannon from 'autocannon'
import postgres from 'postgres'
import { request } from 'undici'
import { headersOf, throughGateway, toService } from './callers.js'
import { percentile, startChild } from './child.js'
import type { MeasureOptions } from './creates.js'
import { median } from './load.js'
import type { Figure } from './report.js'

const connections = 32
const rounds = 3
const [few, many] = [10_000, 1_000_000]

/** Eight columns, about 200 bytes. */
const record = {
  ...{
    name: 'Cordless drill with two batteries',
    serial: 'A-17-000-221',
    status: 'in use',
    owner: 'ada@example.com',
  },
  ...{
    quantity: 3,
    price: '129.90',
    bought_on: '2026-03-02',
    notes: 'kept in the cupboard beside the door, second shelf',
  },
}
const text = (name: string) => ({ name, type: 'text' })
const columns = [
  ...['name', 'serial', 'status', 'owner', 'notes'].map(text),
  { name: 'quantity', type: 'integer' },
  { name: 'price', type: 'decimal', precision: 12, scale: 2 },
  { name: 'bought_on', type: 'date' },
]
const indexes = [
  { columns: [{ name: 'status' }, { name: 'quantity', direction: 'desc' }] },
  { columns: [{ name: 'price' }] },
]

interface Target {
  url: string
  /** Those of a service are good for a minute. */
  headers: () => Promise<Record<string, string>>
}

/** Records at the service's port and through the gateway, beside bare Express + postgres.js; and lists of a million. */
export async function measureRecords({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  const { info } = cluster
  const sql = postgres(info.postgresUrl, { max: 1, onnotice: () => {} })
  await sql.unsafe(`drop schema if exists raw_records cascade; create schema raw_records;
    create table raw_records.assets (id text primary key, name text, serial text, status text, owner text, notes text,
      quantity integer, price numeric(12,2), bought_on date)`)
  await sql.end()
  const raw = await startChild('raw-records.js', { DATABASE_URL: info.postgresUrl })
  const bare = { url: `http://127.0.0.1:${raw.port}/records`, headers: async () => ({}) }
  const path = '/tables/assets/records'
  const gateway = { url: `${info.baseUrl}${path}`, headers: headersOf(throughGateway(cluster)) }
  const workspaceId = await workspaceOf(gateway, info.baseUrl)
  const direct = toService(cluster, 'database-studio', ['records:read', 'records:write'], workspaceId)
  const service = { url: `${direct.url}${path}`, headers: headersOf(direct) }
  await call(gateway, 'POST', `${info.baseUrl}/tables`, { slug: 'assets', columns, indexes })

  const own = await call(gateway, 'POST', gateway.url, record)
  const plain = await call(bare, 'POST', bare.url, record)
  const figures: Figure[] = []
  const compare = async (name: string, goals: [at: Target, where: string, goal: number][], load: Load) => {
    const rates = new Map<Target, number[]>()
    for (let round = 0; round <= rounds; round++)
      for (const target of [bare, ...goals.map(([at]) => at)]) {
        const rate = await load(target, round === 0 ? 1 : seconds)
        // The first round warms up.
        if (round > 0) rates.set(target, [...(rates.get(target) ?? []), rate])
      }
    const limit = median(rates.get(bare) ?? [])
    for (const [at, where, goal] of goals) {
      const rate = median(rates.get(at) ?? [])
      say(`  ${name} ${where}: ${rate.toFixed(0)}/s of ${limit.toFixed(0)}/s`)
      figures.push({
        name: `records: ${name} ${where}`,
        value: `${rate.toFixed(0)}/s`,
        raw: `${limit.toFixed(0)}/s bare Express + postgres.js`,
        ratio: rate / limit,
        goal: `≥ ${goal}`,
        met: rate / limit >= goal,
      })
    }
  }
  const idAt = (target: Target) => (target === bare ? plain : own).data.id
  await compare(
    'get',
    [
      [service, 'at the service', 0.5],
      [gateway, 'through the gateway', 0.4],
    ],
    (target, length) => drive(target, `${target.url}/${idAt(target)}`, length),
  )
  const body = JSON.stringify(record)
  await compare(
    'create',
    [
      [service, 'at the service', 0.5],
      [gateway, 'through the gateway', 0.35],
    ],
    (target, length) => drive(target, target.url, length, body),
  )
  await compare('list of 50', [[service, 'at the service', 0.5]], (target, length) =>
    drive(target, target.url, length),
  )
  raw.child.kill()

  const bulk = JSON.stringify({ records: Array.from({ length: 1_000 }, () => record) })
  const bulks = await drive(service, `${service.url}/bulk`, seconds, bulk, 4)
  figures.push({
    name: 'records: bulk create of 1,000',
    value: `${(bulks * 1_000).toFixed(0)} rows/s`,
    goal: '≥ 50,000 rows/s',
    met: bulks * 1_000 >= 50_000,
  })
  return [...figures, ...(await measureLists(service, info.baseUrl, gateway, say))]
}

type Load = (target: Target, seconds: number) => Promise<number>

async function workspaceOf({ headers }: Target, baseUrl: string): Promise<string> {
  const answer = await request(`${baseUrl}/workspaces/me`, { headers: await headers() })
  return ((await answer.body.json()) as Made).data.id
}

interface Made {
  data: { id: string }
}

async function call(target: Target, method: 'POST', url: string, body: object): Promise<Made> {
  const headers = { 'content-type': 'application/json', ...(await target.headers()) }
  const answer = await request(url, { method, headers, body: JSON.stringify(body) })
  if (answer.statusCode !== 201)
    throw new Error(`${method} ${url} answered ${answer.statusCode}: ${await answer.body.text()}`)
  return (await answer.body.json()) as Made
}

/** Requests a second. */
async function drive(
  target: Target,
  url: string,
  seconds: number,
  body?: string,
  clients = connections,
): Promise<number> {
  const result = await autocannon({
    url,
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(await target.headers()),
    },
    ...(body !== undefined && { body }),
    duration: seconds,
    connections: clients,
  })
  const failures = result.non2xx + result.errors
  if (failures > 0) throw new Error(`${failures} requests to ${url} failed`)
  return result['2xx'] / result.duration
}

const lists: Record<string, Record<string, string>> = {
  'newest first': {},
  'by price': { sort: 'price' },
  'a range of prices': { sort: '-price', filter: '{"price":{"gte":"20.00","lt":"60.00"}}' },
  'one status by quantity': { sort: '-quantity', filter: '{"status":"status 3"}' },
  'two statuses by quantity': { sort: '-quantity', filter: '{"status":{"in":["status 3","status 4"]}}' },
}

/** The same lists of few and of many records, taking turns. */
async function measureLists(
  service: Target,
  baseUrl: string,
  gateway: Target,
  say: (text: string) => void,
): Promise<Figure[]> {
  for (const rows of [few, many]) {
    await call(gateway, 'POST', `${baseUrl}/tables`, { slug: `rows_${rows}`, columns, indexes })
    say(`  writing ${rows} records…`)
    for (let at = 0; at < rows; at += 1_000) {
      const records = Array.from({ length: 1_000 }, (_, n) => ({
        ...record,
        ...{
          status: `status ${(at + n) % 10}`,
          quantity: (at + n) % 1_000,
          price: (((at + n) * 7_919) % 10_000) / 100,
        },
      }))
      await call(service, 'POST', service.url.replace('/assets/', `/rows_${rows}/`).concat('/bulk'), {
        records,
      })
    }
  }
  const figures: Figure[] = []
  for (const [name, query] of Object.entries(lists)) {
    const taken = new Map<number, number[]>([
      [few, []],
      [many, []],
    ])
    for (let round = 0; round < 105; round++)
      for (const rows of [few, many]) {
        const url = `${service.url.replace('/assets/', `/rows_${rows}/`)}?${new URLSearchParams(query)}`
        const begun = performance.now()
        const answer = await request(url, { headers: await service.headers() })
        await answer.body.text()
        if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}`)
        if (round >= 5) taken.get(rows)?.push(performance.now() - begun)
      }
    const [small, large] = [few, many].map((rows) => percentile(taken.get(rows) ?? [], 0.95))
    const ratio = (large ?? Number.NaN) / (small ?? Number.NaN)
    figures.push({
      name: `records: list ${name}, p95 of 1,000,000 rows`,
      value: `${large?.toFixed(1)} ms`,
      raw: `${small?.toFixed(1)} ms of 10,000 rows`,
      ratio,
      goal: '≤ 2',
      met: ratio <= 2,
    })
  }
  return figures
}
