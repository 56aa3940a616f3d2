import { Readable } from 'node:stream'
import { setTimeout as delay } from 'node:timers/promises'
import { connect } from '@nats-io/transport-node'
import type { Cluster } from '@opsplane/local'
import { parseServerUrl } from '@opsplane/nats'
import postgres from 'postgres'
import { request } from 'undici'
import { percentile } from '../child.js'
import { createCallerHeaders, throughGateway, toService } from '../limits/callers.js'
import type { MeasureOptions } from '../log/creates.js'
import { breakdown, cpuSince, cpuTimes, totalMs } from '../process-times.js'
import type { Figure } from '../report.js'
import { call, columns, fetchWorkspaceId, indexes, type Made, record, type Target } from './record-calls.js'
import { openData } from './record-rows.js'
import { residentMb } from './records-million.js'

/** Set BENCH_ROWS for fewer rows. */
const rows = Number(process.env.BENCH_ROWS ?? 1_000_000)
const goalSeconds = 300
const othersEveryMs = 250

/**
 * Measures an import of a million records until their events are in the audit log, and its effect on another
 * workspace.
 */
export async function measureImport({ cluster, say }: MeasureOptions): Promise<Figure[]> {
  const gateway = { url: cluster.info.baseUrl, headers: createCallerHeaders(throughGateway(cluster)) }
  const workspaceId = await fetchWorkspaceId(gateway, gateway.url)
  const service = studioOf(cluster, workspaceId)
  for (const each of [service, studioOf(cluster, 'ws_other')])
    await call(each, 'POST', `${each.url}/tables`, { slug: 'imported', columns, indexes })
  const before = cpuTimes(cluster)
  const pid = cluster.services['database-studio'].pid() ?? 0
  const residentBefore = residentMb(pid)
  const others = await watchOthers(cluster)
  const begun = performance.now()
  const seconds = () => (performance.now() - begun) / 1_000
  say(`  importing ${rows} records…`)
  const id = await upload(service)
  say(`  uploaded after ${seconds().toFixed(1)} s`)
  let peakMb = residentMb(pid)
  for (;;) {
    peakMb = Math.max(peakMb, residentMb(pid))
    const found = await progress(service, id)
    if (found.finishedAt !== null) {
      if (found.written !== rows) throw new Error(`the import came to ${JSON.stringify(found)}`)
      break
    }
    await delay(500)
  }
  const imported = seconds()
  say(`  imported after ${imported.toFixed(1)} s`)
  await drained(cluster, workspaceId)
  const drainedAfter = seconds()
  const delays = await others.stop()
  const cpu = cpuSince(before, cpuTimes(cluster))
  say(`  drained after ${drainedAfter.toFixed(1)} s; ms of CPU a record: ${breakdown(cpu, rows)}`)
  const size = `${rows.toLocaleString('en')} records`
  return [
    {
      name: `records: import of ${size}, until it is over`,
      value: `${imported.toFixed(1)} s, ${(peakMb - residentBefore).toFixed(0)} MB more memory`,
      goal: '',
      met: true,
    },
    {
      name: 'records: the same, until all is relayed, fanned out and in the audit log',
      value: `${drainedAfter.toFixed(0)} s (${(totalMs(cpu) / rows).toFixed(2)} ms of CPU a record)`,
      goal: `< ${goalSeconds} s`,
      met: drainedAfter < goalSeconds,
    },
    {
      name: "records: another workspace's events meanwhile, from the answer to JetStream",
      value: `p50 ${percentile(delays, 0.5).toFixed(0)} ms, most ${Math.max(...delays).toFixed(0)} ms of ${delays.length}`,
      goal: '< 1,000 ms',
      met: Math.max(...delays) < 1_000,
    },
  ]
}

function studioOf(cluster: Cluster, workspaceId: string): Target {
  const permissions = ['tables:write', 'records:read', 'records:write'] as const
  const caller = toService(cluster, 'database-studio', [...permissions], workspaceId)
  return { url: caller.url, headers: createCallerHeaders(caller) }
}

const importPath = '/tables/imported/records/import?format=csv'

async function upload(service: Target): Promise<string> {
  const names = Object.keys(record)
  const line = `${Object.values(record)
    .map((value) => `"${value}"`)
    .join()}\n`
  async function* file() {
    yield `${names.join()}\n`
    const part = line.repeat(1_000)
    for (let at = 0; at < rows; at += 1_000) yield part
  }
  const answer = await request(`${service.url}${importPath}`, {
    method: 'POST',
    headers: { 'content-type': 'text/csv', ...(await service.headers()) },
    body: Readable.from(file()),
    headersTimeout: 600_000,
  })
  if (answer.statusCode !== 202)
    throw new Error(`the import answered ${answer.statusCode}: ${await answer.body.text()}`)
  return ((await answer.body.json()) as Made).data.id
}

async function progress(service: Target, id: string) {
  const answer = await request(`${service.url}/tables/imported/imports/${id}`, {
    headers: await service.headers(),
  })
  const { data } = (await answer.body.json()) as { data: { finishedAt: string | null; written: number } }
  return data
}

/**
 * Waits until the events of a workspace are in JetStream and in the audit log, and the dispatcher has fanned them
 * out.
 */
async function drained(cluster: Cluster, workspaceId: string): Promise<void> {
  const data = openData(cluster)
  const platform = postgres(cluster.info.postgresUrl, { max: 1, onnotice: () => {} })
  try {
    const [last] = await data<{ position: string }[]>`
      select max(position)::text as position from events where workspace_id = ${workspaceId}`
    for (;;) {
      const [waiting] = await data<{ any: boolean }[]>`
        select exists (select from outbox where workspace_id = ${workspaceId}) as any`
      const [audited] = await platform<{ count: number }[]>`
        select count(*)::int as count from settings.audit_log where workspace_id = ${workspaceId}`
      const [fannedOut] = await platform<{ upTo: boolean }[]>`
        select position >= ${last?.position ?? 0} as "upTo" from dispatcher.consumer_floors
        where consumer = 'dispatcher-delivery-fanout' and source = 'database_studio'`
      if (!waiting?.any && (audited?.count ?? 0) >= rows && fannedOut?.upTo) return
      await delay(500)
    }
  } finally {
    await data.end()
    await platform.end()
  }
}

/**
 * Periodically creates a record in another workspace; `stop` resolves with the time each event took to reach
 * JetStream, in ms.
 */
async function watchOthers(cluster: Cluster): Promise<{ stop(): Promise<number[]> }> {
  const service = studioOf(cluster, 'ws_other')
  const connection = await connect(parseServerUrl(cluster.info.natsUrl))
  const answeredAt = new Map<string, number>()
  const arrivedAt = new Map<string, number>()
  connection.subscribe('evt.ws_other.>', {
    callback: (_error, message) => {
      const { resource } = message.json<{ resource: { id: string } }>()
      arrivedAt.set(resource.id, performance.now())
    },
  })
  await connection.flush()
  let isOn = true
  const createLoop = (async () => {
    while (isOn) {
      const { data } = await call(service, 'POST', `${service.url}/tables/imported/records`, record)
      answeredAt.set(data.id, performance.now())
      await delay(othersEveryMs)
    }
  })()
  return {
    async stop() {
      isOn = false
      await createLoop
      while ([...answeredAt.keys()].some((id) => !arrivedAt.has(id))) await delay(100)
      await connection.close()
      return [...answeredAt].map(([id, at]) => Math.max(0, (arrivedAt.get(id) ?? Number.NaN) - at))
    },
  }
}
