import { createHash } from 'node:crypto'
import { newId } from '@opsplane/contracts'
import type { Cluster } from '@opsplane/local'
import postgres from 'postgres'
import { request } from 'undici'
import { z } from 'zod'
import type { MeasureOptions } from './log/creates.js'
import { breakdown, cpuSince, cpuTimes } from './process-times.js'
import { residentMb } from './records/records-million.js'
import type { Figure } from './report.js'

/** Set BENCH_ROWS for fewer rows. */
const rows = Number(process.env.BENCH_ROWS ?? 1_000_000)
/** Maximum seconds for a file of a million rows. */
const goals = { csv: 5, ndjson: 5, parquet: 15, xlsx: 60 } as const
const maxMb = 200

const Made = z.object({
  data: z.object({
    id: z.string(),
    status: z.string(),
    error: z.unknown(),
    createdAt: z.string(),
    endedAt: z.string().nullable(),
    file: z.object({ rows: z.number(), bytes: z.number(), sha256: z.string() }).nullable(),
  }),
})
const Download = z.object({ data: z.object({ url: z.string() }) })
const Incident = z.object({ data: z.object({ id: z.string() }) })

/** Measures files of a million facts, from the request to the last part, and the resources the service uses for them. */
export async function measureExports({
  cluster,
  say,
}: Pick<MeasureOptions, 'cluster' | 'say'>): Promise<Figure[]> {
  say(`  writing ${rows} facts…`)
  await fill(cluster)
  const figures: Figure[] = []
  for (const [format, seconds] of Object.entries(goals))
    figures.push(...(await measureOne({ cluster, say }, format, seconds)))
  return figures
}

async function call(
  cluster: Cluster,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<unknown> {
  const { info } = cluster
  const answer = await request(`${info.baseUrl}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${info.apiKey}`,
      'x-workspace': info.workspace,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}: ${text}`)
  return JSON.parse(text)
}

/** Inserts facts into the cluster's workspace in time order, as events would, but without the events. */
async function fill(cluster: Cluster): Promise<void> {
  const one = Incident.parse(
    await call(cluster, 'POST', '/itsm/incidents', { title: 'The first', severity: 'low' }),
  )
  const url = new URL(cluster.info.postgresUrl)
  const sql = postgres(url.href, {
    max: 1,
    onnotice: () => {},
    connection: { search_path: 'analytics,itsm' },
  })
  // Ids in this month's partition, in the order of creation.
  const prefix = newId('incident').slice(0, 14)
  try {
    await sql.unsafe(
      `insert into analytics.fact_incidents (id, workspace_id, environment, version, created_at, number, title, status,
         severity, priority, assignment_group, category, caller_id, time_to_resolve_ms, reopen_count, comment_count)
       select $1 || lpad(n::text, 16, '0'), workspace_id, environment, 1, now() - interval '1 second' * (n % 86400),
         'INC-' || n, 'Checkout answers 502 in region ' || n % 50, 'open', 'high', 'P2', 'payments',
         'network', 'usr_' || n % 5000, n % 90000 * 1000, n % 3, n % 20
       from itsm.incidents, generate_series(1, $2::text::int4) n where id = $3 order by 5`,
      [prefix, String(rows), one.data.id],
    )
    await sql.unsafe('vacuum analyze analytics.fact_incidents')
  } finally {
    await sql.end()
  }
}

async function measureOne(
  { cluster, say }: Pick<MeasureOptions, 'cluster' | 'say'>,
  format: string,
  goal: number,
): Promise<Figure[]> {
  const pid = cluster.services.analytics.pid() ?? 0
  const before = residentMb(pid)
  let peakMb = before
  const sampling = setInterval(() => {
    peakMb = Math.max(peakMb, residentMb(pid))
  }, 20)
  const source = { facts: { dataset: 'incidents' } }
  const cpuBefore = cpuTimes(cluster)
  let made = Made.parse(await call(cluster, 'POST', '/analytics/exports', { format, source }))
  while (made.data.status === 'pending') {
    await new Promise((resolve) => setTimeout(resolve, 250))
    made = Made.parse(await call(cluster, 'GET', `/analytics/exports/${made.data.id}`))
  }
  clearInterval(sampling)
  const { analytics = 0, postgres = 0, nats = 0 } = cpuSince(cpuBefore, cpuTimes(cluster))
  say(`  ${format}: ${breakdown({ analytics, postgres, nats }, rows / 1_000)} µs of CPU a row`)
  const { file, endedAt, createdAt, error } = made.data
  if (!file || file.rows < rows) throw new Error(`the export of ${format} failed: ${JSON.stringify(error)}`)
  const seconds = (Date.parse(endedAt ?? '') - Date.parse(createdAt)) / 1_000
  const download = await downloaded(cluster, made.data.id)
  if (download.sha256 !== file.sha256) throw new Error(`the file of ${format} is not what its checksum says`)
  const fileLabel = `${rows.toLocaleString('en')} facts as ${format}`
  return [
    {
      name: `exports: ${fileLabel}`,
      value: `${seconds.toFixed(1)} s, ${(file.bytes / 1e6).toFixed(0)} MB (download ${download.seconds.toFixed(1)} s)`,
      goal: `< ${goal} s`,
      met: seconds < goal,
    },
    {
      name: `exports: memory of the service for ${format}`,
      value: `${peakMb.toFixed(0)} MB (${before.toFixed(0)} before)`,
      goal: `< ${maxMb} MB`,
      met: peakMb < maxMb,
    },
  ]
}

async function downloaded(cluster: Cluster, id: string): Promise<{ seconds: number; sha256: string }> {
  const { data } = Download.parse(await call(cluster, 'GET', `/analytics/exports/${id}/download`))
  const begun = performance.now()
  const answer = await request(data.url)
  const hash = createHash('sha256')
  for await (const chunk of answer.body as AsyncIterable<Buffer>) hash.update(chunk)
  return { seconds: (performance.now() - begun) / 1_000, sha256: hash.digest('hex') }
}
