import postgres from 'postgres'
import { request } from 'undici'
import { addedUp, fillFacts } from './facts.js'
import { createCallerHeaders, toService } from './limits/callers.js'
import { createIncidentsEvenly } from './load.js'
import type { MeasureOptions } from './log/creates.js'
import { cpuSince, cpuTimes, ownMs } from './process-times.js'
import type { Figure } from './report.js'

/** Set BENCH_FACTS=10000000 to measure at the size the design states its figure for. */
const facts = Number(process.env.BENCH_FACTS ?? 300_000)
const rounds = 40
const workspaceId = 'ws_bench_facts'
const incidentsPerSecond = 100
/**
 * Seconds of load. The process table counts CPU in steps of 10 ms, and the current quarter hour is aggregated once a
 * minute: in a run of only eight seconds, one step would be 0.01 ms per event, and the aggregation would either be
 * included or not.
 */
const gatheringSeconds = 60
/**
 * Load before the measurement, so that V8 has compiled the code the load uses: compiling costs as much CPU as a
 * thousand events.
 */
const warmUp = { seconds: 15, rate: 400 }

const year = { from: '2025-01-01T00:00:00Z', to: '2026-01-01T00:00:00Z' }
const reports = {
  'totals of a year': { measures: ['incidents', 'open', 'reopened', 'p90_time_to_resolve', 'callers'] },
  'months by team': {
    ...{ measures: ['incidents', 'p50_time_to_resolve', 'p90_time_to_resolve', 'callers'] },
    ...{ dimensions: ['assignmentGroup'], grain: 'month', timeZone: 'Europe/Berlin' },
  },
  'days in Kolkata by severity': {
    ...{ measures: ['incidents', 'open'], dimensions: ['severity'], grain: 'day', timeZone: 'Asia/Kolkata' },
  },
  'weeks of critical ones': {
    ...{ measures: ['incidents', 'p95_time_to_resolve'], filters: { severity: 'critical' }, grain: 'week' },
  },
  'days with percentiles': { measures: ['p50_time_to_resolve'], grain: 'day', timeZone: 'America/New_York' },
}

/** Measures reports over many facts without the response cache, and how long an event takes to become facts. */
export async function measureAnalytics(options: MeasureOptions): Promise<Figure[]> {
  const { cluster, say } = options
  const connection = { search_path: 'analytics' }
  const sql = postgres(cluster.info.postgresUrl, { max: 4, connection, onnotice: () => {} })
  try {
    const gathered = await measureGathering(options, sql)
    say(`  writing ${facts} facts…`)
    await fillFacts(sql, workspaceId, facts)
    const startedAt = performance.now()
    await addedUp(sql)
    say(`  added up in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`)
    return [...gathered, ...(await measureReports(options, sql))]
  } finally {
    await sql.end()
  }
}

const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0

async function measureReports({ cluster, say }: MeasureOptions, sql: postgres.Sql): Promise<Figure[]> {
  const caller = toService(
    cluster,
    'analytics',
    ['analytics:read', 'analytics:write', 'itsm:read'],
    workspaceId,
  )
  const login = createCallerHeaders(caller)
  const post = async (path: string, body: object): Promise<{ data: { id: string; totals: unknown } }> => {
    const headers = { ...(await login()), 'content-type': 'application/json' }
    const answer = await request(`${caller.url}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    })
    const json = (await answer.body.json()) as { data: { id: string; totals: unknown } }
    if (answer.statusCode >= 300)
      throw new Error(`${path} answered ${answer.statusCode}: ${JSON.stringify(json)}`)
    return json
  }
  await sql`insert into fact_versions values (${workspaceId}, 'production', 'incidents', 1, now()) on conflict do nothing`
  const figures: Figure[] = []
  for (const [name, query] of Object.entries(reports)) {
    const reportDefinition = { name, query: { dataset: 'incidents', range: year, ...query } }
    const { id } = (await post('/analytics/reports', reportDefinition)).data
    const durationsMs: number[] = []
    for (let round = 0; round < rounds; round++) {
      // Increments the version so that no cached response is valid.
      await sql`update fact_versions set version = version + 1 where workspace_id = ${workspaceId}`
      const startedAt = performance.now()
      await post(`/analytics/reports/${id}/run`, {})
      durationsMs.push(performance.now() - startedAt)
    }
    const [first = 0] = durationsMs
    const [p50, p95] = [0.5, 0.95].map((share) =>
      percentile(
        durationsMs.sort((a, b) => a - b),
        share,
      ),
    )
    say(`  ${name}: the first ${first.toFixed(0)} ms, p50 ${p50?.toFixed(0)} ms, p95 ${p95?.toFixed(0)} ms`)
    figures.push({
      name: `report over ${facts} facts, ${name}`,
      value: `p50 ${p50?.toFixed(0)} ms, p95 ${p95?.toFixed(0)} ms`,
      goal: 'p95 < 1000 ms',
      met: (p95 ?? 0) < 1_000,
    })
  }
  return figures
}

/** Creates incidents at an even rate and compares the time of each event with the time its fact becomes visible. */
async function measureGathering({ cluster, say }: MeasureOptions, sql: postgres.Sql): Promise<Figure[]> {
  const caller = toService(cluster, 'itsm', ['itsm:read', 'itsm:write'])
  const login = createCallerHeaders(caller)
  const create = (forSeconds: number, rate = incidentsPerSecond) =>
    createIncidentsEvenly({
      url: `${caller.url}/itsm/incidents`,
      login,
      seconds: forSeconds,
      connections: 16,
      rate,
    })
  say('  warming up…')
  await create(warmUp.seconds, warmUp.rate)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const [newest] = await sql<{ id: string }[]>`
    select coalesce(max(id), '') as id from fact_events where workspace_id = 'ws_bench'`
  const latencies = new Map<string, number>()
  let isOver = false
  const watching = (async () => {
    for (let last = newest?.id ?? ''; !isOver; ) {
      const rows = await sql<{ id: string; ms: number }[]>`
        select id, extract(epoch from clock_timestamp() - created_at) * 1000 as ms from fact_events
        where workspace_id = 'ws_bench' and id > ${last}`
      for (const { id, ms } of rows) if (!latencies.has(id)) latencies.set(id, Number(ms))
      // Steps back a little: ids need not become visible in order.
      last = [...latencies.keys()].at(-500) ?? last
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })()
  /** CPU time of the Postgres backends that serve analytics, in ms. */
  const spentMs = async () => {
    const backends = await sql<
      { pid: number }[]
    >`select pid from pg_stat_activity where usename = opsplane.role_name('analytics')`
    return backends.reduce((sum, { pid }) => sum + ownMs(pid), 0)
  }
  const [before, spent] = [cpuTimes(cluster), await spentMs()]
  await create(gatheringSeconds)
  await new Promise((resolve) => setTimeout(resolve, 1_000))
  const own = cpuSince(before, cpuTimes(cluster)).analytics ?? 0
  const backends = (await spentMs()) - spent
  isOver = true
  await watching
  const delays = [...latencies.values()].sort((a, b) => a - b)
  const cpuMs = (own + backends) / Math.max(1, delays.length)
  say(
    `  ${delays.length} events: ${own.toFixed(0)} ms of the service, ${backends.toFixed(0)} ms of its backends`,
  )
  return [
    {
      name: 'event to fact',
      value: `p50 ${percentile(delays, 0.5).toFixed(0)} ms, p99 ${percentile(delays, 0.99).toFixed(0)} ms`,
      goal: 'p99 < 2000 ms',
      met: percentile(delays, 0.99) < 2_000,
    },
    {
      name: 'event to fact, CPU per event',
      value: `${cpuMs.toFixed(3)} ms`,
      goal: '≤ 0.2 ms',
      met: cpuMs <= 0.2,
    },
  ]
}
