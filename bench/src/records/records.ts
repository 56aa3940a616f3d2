import type { Cluster } from '@opsplane/local'
import autocannon from 'autocannon'
import postgres from 'postgres'
import { startChild } from '../child.js'
import { createCallerHeaders, throughGateway, toService } from '../limits/callers.js'
import { median } from '../load.js'
import type { MeasureOptions } from '../log/creates.js'
import { consumersCaughtUp } from '../log/pipeline.js'
import { breakdown, cpuSince, cpuTimes } from '../process-times.js'
import type { Figure } from '../report.js'
import { call, columns, fetchWorkspaceId, indexes, record, type Target } from './record-calls.js'

const connections = 32
const rounds = 3
const rowsAtOnce = 1_000

/** Measures records at the service's port and through the gateway, compared with bare Express + postgres.js. */
export async function measureRecords({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  const { info } = cluster
  const sql = postgres(info.postgresUrl, { max: 1, onnotice: () => {} })
  await sql.unsafe(`drop schema if exists raw_records cascade; create schema raw_records;
    create table raw_records.assets (id text primary key, name text, serial text, status text, owner text, notes text,
      quantity integer, price numeric(12,2), bought_on date)`)
  await sql.end()
  const raw = await startChild('records/raw-records.js', { DATABASE_URL: info.postgresUrl })
  const bare = { url: `http://127.0.0.1:${raw.port}/records`, headers: async () => ({}) }
  const path = '/tables/assets/records'
  const gateway = { url: `${info.baseUrl}${path}`, headers: createCallerHeaders(throughGateway(cluster)) }
  const workspaceId = await fetchWorkspaceId(gateway, info.baseUrl)
  const direct = toService(cluster, 'database-studio', ['records:read', 'records:write'], workspaceId)
  const service = { url: `${direct.url}${path}`, headers: createCallerHeaders(direct) }
  await call(gateway, 'POST', `${info.baseUrl}/tables`, { slug: 'assets', columns, indexes })

  const own = await call(gateway, 'POST', gateway.url, record)
  const plain = await call(bare, 'POST', bare.url, record)
  const figures: Figure[] = []
  // Earlier measurements may have left events that services are still handling.
  await consumersCaughtUp(cluster)
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

  figures.push(await measureBulk(cluster, service, seconds))
  return figures
}

/** Includes the CPU of all processes: CPU per row is more meaningful than the rate when processes share the cores. */
async function measureBulk(cluster: Cluster, service: Target, seconds: number): Promise<Figure> {
  const body = JSON.stringify({ records: Array.from({ length: rowsAtOnce }, () => record) })
  const before = cpuTimes(cluster)
  const perSecond = (await drive(service, `${service.url}/bulk`, seconds, body, 4)) * rowsAtOnce
  const cpu = cpuSince(before, cpuTimes(cluster))
  const rows = perSecond * seconds
  return {
    name: `records: bulk create of ${rowsAtOnce.toLocaleString('en')}`,
    value: `${perSecond.toFixed(0)} rows/s (ms of CPU for 1,000: ${breakdown(cpu, rows / 1_000)})`,
    goal: '≥ 50,000 rows/s',
    met: perSecond >= 50_000,
  }
}

type Load = (target: Target, seconds: number) => Promise<number>

/** Requests per second. */
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
