import { readFileSync } from 'node:fs'
import type { Cluster } from '@opsplane/local'
import { request } from 'undici'
import { percentile } from '../child.js'
import { createCallerHeaders, toService } from '../limits/callers.js'
import type { MeasureOptions } from '../log/creates.js'
import { breakdown, cpuSince, cpuTimes } from '../process-times.js'
import type { Figure } from '../report.js'
import { call, columns, indexes, type Target } from './record-calls.js'
import { fillTable, openData } from './record-rows.js'

const few = 10_000
/** Set BENCH_ROWS for fewer rows. */
const many = Number(process.env.BENCH_ROWS ?? 1_000_000)
const rounds = 100
const warmUps = 5

const lists: Record<string, Record<string, string>> = {
  'newest first': {},
  'by price': { sort: 'price' },
  'a range of prices': { sort: '-price', filter: '{"price":{"gte":"20.00","lt":"60.00"}}' },
  'one status by quantity': { sort: '-quantity', filter: '{"status":"status 3"}' },
  'two statuses by quantity': { sort: '-quantity', filter: '{"status":{"in":["status 3","status 4"]}}' },
  'one record by what is unique': { filter: '{"serial":"A-17-977"}' },
}

/** Measures lists and exports of a million records. */
export async function measureRecordsMillion({ cluster, say }: MeasureOptions): Promise<Figure[]> {
  const direct = toService(cluster, 'database-studio', ['tables:write', 'records:read', 'records:write'])
  const service = { url: direct.url, headers: createCallerHeaders(direct) }
  const sql = openData(cluster)
  const unique = columns.map((column) => ({ ...column, unique: column.name === 'serial' }))
  try {
    for (const rows of [few, many]) {
      await call(service, 'POST', `${service.url}/tables`, { slug: `rows_${rows}`, columns: unique, indexes })
      say(`  writing ${rows} records…`)
      await fillTable(sql, `rows_${rows}`, rows)
    }
  } finally {
    await sql.end()
  }
  const figures: Figure[] = []
  for (const [name, query] of Object.entries(lists)) figures.push(await compare(service, name, query))
  for (const format of ['csv', 'ndjson']) figures.push(...(await measureExport(cluster, service, format)))
  return figures
}

/** Requests the same list alternately from a small and from a large table. */
async function compare(service: Target, name: string, query: Record<string, string>): Promise<Figure> {
  const timesByRows = new Map<number, number[]>([
    [few, []],
    [many, []],
  ])
  for (let round = 0; round < rounds + warmUps; round++)
    for (const rows of [few, many]) {
      const url = `${service.url}/tables/rows_${rows}/records?${new URLSearchParams(query)}`
      const headers = await service.headers()
      const begun = performance.now()
      const answer = await request(url, { headers })
      const text = await answer.body.text()
      if (answer.statusCode !== 200) throw new Error(`${url} answered ${answer.statusCode}: ${text}`)
      if (round >= warmUps) timesByRows.get(rows)?.push(performance.now() - begun)
    }
  const [small = Number.NaN, large = Number.NaN] = [few, many].map((rows) =>
    percentile(timesByRows.get(rows) ?? [], 0.95),
  )
  const [p50, p50Large] = [few, many].map((rows) => percentile(timesByRows.get(rows) ?? [], 0.5).toFixed(1))
  return {
    name: `records: list ${name}, p95 of ${many.toLocaleString('en')} rows`,
    value: `${large.toFixed(1)} ms (p50 ${p50Large})`,
    raw: `${small.toFixed(1)} ms of 10,000 rows (p50 ${p50})`,
    ratio: large / small,
    goal: '≤ 2',
    met: large / small <= 2,
  }
}

async function measureExport(cluster: Cluster, service: Target, format: string): Promise<Figure[]> {
  const pid = cluster.services['database-studio'].pid() ?? 0
  const cpuBefore = cpuTimes(cluster)
  const before = residentMb(pid)
  let peakMb = before
  const sampling = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb(pid))
  }, 20)
  const url = `${service.url}/tables/rows_${many}/records/export?format=${format}`
  const begun = performance.now()
  const answer = await request(url, { headers: await service.headers() })
  let lines = 0
  let bytes = 0
  for await (const chunk of answer.body as AsyncIterable<Buffer>) {
    bytes += chunk.length
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
  }
  const seconds = (performance.now() - begun) / 1_000
  clearInterval(sampling)
  const cpu = cpuSince(cpuBefore, cpuTimes(cluster))
  if (lines < many) throw new Error(`the export had ${lines} lines`)
  const size = `${many.toLocaleString('en')} rows as ${format}`
  return [
    {
      name: `records: export of ${size}`,
      value: `${seconds.toFixed(1)} s, ${(bytes / 1e6).toFixed(0)} MB (s of CPU: ${breakdown(cpu, 1_000)})`,
      goal: '< 5 s',
      met: seconds < 5,
    },
    {
      name: `records: memory of the service for it`,
      value: `${(peakMb - before).toFixed(0)} MB more than ${before.toFixed(0)}`,
      goal: '< 200 MB',
      met: peakMb - before < 200,
    },
  ]
}

/** Resident memory of a process in MB (Linux). */
export function residentMb(pid: number): number {
  const kb = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kb ?? 0) / 1_000
}
