import { setTimeout as delay } from 'node:timers/promises'
import { request } from 'undici'
import { cpuMs, percentile, requestFromChild, startChild } from '../child.js'
import type { Caller } from '../limits/callers.js'
import { secondTenant } from '../limits/second-tenant.js'
import { evenly } from '../load.js'
import type { MeasureOptions } from '../log/creates.js'
import { openFiles, residentMb } from '../process-memory.js'
import type { Figure } from '../report.js'

/** Number of streams; set BENCH_STREAMS for fewer. */
const targetStreams = Number(process.env.BENCH_STREAMS ?? 10_000)
/** A replica serves at most 2,000 streams of one workspace. */
const ofWorkspace = 2_000
/** Number of streams that receive each event. */
const ofGroup = 100
const keysOfWorkspace = 20
const eventsPerSecond = 5
/** The services have just started, and V8 compiles the event handling code during the first events. */
const warmUpSeconds = 2

/**
 * Measures the memory of one gateway and one replica of settings while event streams are open, and how soon an event
 * reaches the streams that receive it.
 */
export async function measureStreams({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  const { settings, gateway } = cluster.services
  const possible = Math.min(targetStreams, openFiles() - 500)
  const streams = Math.floor(possible / ofWorkspace) * ofWorkspace
  const tenants: Caller[][] = []
  for (let at = 0; at < streams / ofWorkspace; at++) tenants.push(await callersOf(cluster, `streams-${at}`))
  // Restarted, so that memory left from an earlier load does not hide the memory of the streams.
  for (const service of [settings, gateway]) {
    await service.stop()
    await service.start()
  }
  const [first] = tenants.flat()
  while (first === undefined || (await create(first, -1)) !== 201) await delay(50)
  const pids: Parameters<typeof residentMb>[0] = [settings.pid(), gateway.pid()]
  const before = residentMb(pids)

  say(`${streams} streams are opened…`)
  const clients = await startChild('delivery/stream-clients.js', {
    CALLERS: JSON.stringify(tenants),
    STREAMS: String(ofWorkspace),
    GROUP: String(ofGroup),
  })
  const count = () =>
    requestFromChild<{ open: number; seen: number; failures: string[] }>(clients.child, 'count')
  try {
    for (let found = await count(); found.open < streams; found = await count()) {
      if (found.failures.length > 0) throw new Error(`streams failed: ${found.failures.join('; ')}`)
      await delay(200)
    }
    const open = residentMb(pids)
    say(`  now ${eventsPerSecond} events a second, each for ${ofGroup} of them…`)
    await createSeen({ tenants, seconds: warmUpSeconds, count })
    await requestFromChild(clients.child, 'forget')
    const cpuBefore = pids.map((pid = 0) => cpuMs(pid))
    const startedAt = performance.now()
    const expected = await createSeen({ tenants, seconds, count })
    const cores = pids.map(
      (pid = 0, at) => (cpuMs(pid) - (cpuBefore[at] ?? 0)) / (performance.now() - startedAt),
    )
    const later = residentMb(pids)
    const { latencies, failures } = await requestFromChild<{ latencies: number[]; failures: string[] }>(
      clients.child,
      'report',
    )
    if (failures.length > 0) throw new Error(`streams failed: ${failures.join('; ')}`)
    if (latencies.length !== expected) throw new Error(`${latencies.length} events instead of ${expected}`)
    say(`  settings used ${cores[0]?.toFixed(2)} cores, the gateway ${cores[1]?.toFixed(2)}`)
    return figuresOf(streams, latencies, { before, open, later })
  } finally {
    clients.child.kill()
  }
}

interface CreatedEvents {
  tenants: readonly Caller[][]
  seconds: number
  count(): Promise<{ seen: number }>
}

/**
 * Creates incidents evenly, each for one group, then waits until all are received or 10 s have passed; resolves with
 * the number of receipts expected.
 */
async function createSeen({ tenants, seconds, count }: CreatedEvents): Promise<number> {
  const groups = ofWorkspace / ofGroup
  const created = await evenly({ rate: eventsPerSecond, seconds }, async () => {
    const [caller] = tenants[Math.floor(Math.random() * tenants.length)] ?? []
    const status = caller && (await create(caller, Math.floor(Math.random() * groups)))
    if (status !== 201) throw new Error(`an incident answered ${status}`)
  })
  const expected = created * ofGroup
  const deadline = performance.now() + 10_000
  while ((await count()).seen < expected && performance.now() < deadline) await delay(100)
  return expected
}

type Memory = Record<'before' | 'open' | 'later', [settings: number, gateway: number]>

function figuresOf(streams: number, latencies: number[], { before, open, later }: Memory): Figure[] {
  const more = (now: [number, number]) => now[0] + now[1] - before[0] - before[1]
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
  return [
    {
      name: `${streams} open streams, gateway and settings: more memory`,
      value: `${more(open).toFixed(0)} MB (settings ${(open[0] - before[0]).toFixed(0)}), ${more(later).toFixed(0)} MB after events`,
      goal: '< 250 MB',
      met: more(open) < 250,
    },
    {
      name: `${streams} open streams: from a change to the ${ofGroup} it is for`,
      value: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
      goal: 'p99 < 100 ms',
      met: p99 < 100,
    },
  ]
}

/** The owner of a new workspace, with several API keys; each key opens some of the streams. */
async function callersOf(cluster: MeasureOptions['cluster'], slug: string): Promise<Caller[]> {
  const { baseUrl: url } = cluster.info
  const owner = await secondTenant(cluster, slug)
  const callers: Caller[] = []
  for (let at = 0; at < keysOfWorkspace; at++) {
    const response = await request(`${url}/auth/tokens`, {
      method: 'POST',
      headers: { ...owner, 'content-type': 'application/json' },
      body: JSON.stringify({ name: `stream ${at}`, scopes: ['itsm:read', 'itsm:write', 'audit:read'] }),
    })
    const { data } = (await response.body.json()) as { data: { token: string } }
    callers.push({ url, login: { headers: { ...owner, authorization: `Bearer ${data.token}` } } })
  }
  return callers
}

/** Creates an incident for the streams of a group. */
async function create({ url, login }: Caller, group: number): Promise<number> {
  const sentAtMs = performance.timeOrigin + performance.now()
  const response = await request(`${url}/itsm/incidents`, {
    method: 'POST',
    headers: { ...('headers' in login ? login.headers : {}), 'content-type': 'application/json' },
    body: JSON.stringify({ title: String(sentAtMs), tags: [`group-${group}`] }),
  })
  await response.body.dump()
  return response.statusCode
}
