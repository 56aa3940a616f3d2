import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '@opsplane/local'
import postgres from 'postgres'
import { request } from 'undici'
import { cpuMs, percentile, requestFromChild, startChild } from '../child.js'
import { createIncidents, type LoadOptions, median } from '../load.js'
import { copyTables, incidents, type MeasureOptions } from '../log/creates.js'
import { consumersCaughtUp } from '../log/pipeline.js'
import { breakdown, type CpuTimes, cpuSince, cpuTimes, totalMs } from '../process-times.js'
import type { Figure } from '../report.js'
import { startPlainReceiver } from './receiver.js'
import { signatureCostUs } from './signatures.js'

const rounds = 3

interface Delivered {
  /** Measured from the first request until the last incident has arrived. */
  perSecond: number
  cpu: CpuTimes
  count: number
}

interface Bare {
  perSecond: number
  /** CPU time per create, Express and Postgres together. */
  cpuMs: number
}

/**
 * Measures the main job end to end: incidents accepted by the API and delivered to one webhook, compared with bare
 * Express creates in the same run, with many clients and with one; the CPU each costs over all processes, until
 * every consumer has handled its events; and the time from event to first attempt.
 */
export async function measureDelivered({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  await copyTables(cluster.info.postgresUrl)
  const raw = await startChild('log/raw-express.js', { DATABASE_URL: cluster.info.postgresUrl })
  const rawUrl = `http://127.0.0.1:${raw.port}/itsm/incidents`
  const receiver = await startPlainReceiver()
  await subscribeTo(cluster, `${receiver.origin}/hook`)
  const target = incidents(cluster)

  say('Warming up accept and delivery…')
  await createIncidents({ url: rawUrl, seconds: 2, connections: 32 })
  await createAndDeliver({ cluster, receiver: receiver.child, seconds: 5, connections: 32 })
  const figures: Figure[] = []
  let saturation = 0
  for (const { connections, ratioGoal, cpuGoal } of [
    { connections: 32, ratioGoal: 0.7, cpuGoal: 2.8 },
    { connections: 1, ratioGoal: undefined, cpuGoal: 5 },
  ]) {
    const bare: Bare[] = []
    const ours: Delivered[] = []
    // Alternates between both, so that both run under the same machine conditions.
    for (let round = 1; round <= rounds; round++) {
      bare.push(await createBare({ cluster, raw, seconds, connections }))
      const result = await createAndDeliver({ cluster, receiver: receiver.child, seconds, connections })
      ours.push(result)
      say(
        `  ${connections} clients, round ${round}: bare ${bare.at(-1)?.perSecond.toFixed(0)}/s, accepted and delivered ` +
          `${result.perSecond.toFixed(0)}/s, ${breakdown(result.cpu, result.count)} ms each`,
      )
    }
    figures.push(...deliveredFigures({ bare, ours, connections, ratioGoal, cpuGoal }))
    if (connections === 1) continue
    saturation = median(ours.map(({ perSecond }) => perSecond))
    const incidentMs = median(ours.map(({ cpu, count }) => totalMs(cpu) / count))
    figures.push(signatureFigure(incidentMs / (await eventsPerIncident(cluster))))
  }
  raw.child.kill()

  for (const [name, rate, goal] of [
    ['at 100 events/s', 100, { p50: 4 }],
    ['at half of saturation', Math.floor(saturation / 2), { p99: 60 }],
  ] as const) {
    say(`Sending ${rate} events/s for the latency…`)
    await requestFromChild(receiver.child, 'report')
    await createEvenly({ ...target, seconds: Math.max(seconds, 10), connections: 64, rate })
    await consumersCaughtUp(cluster)
    figures.push(latencyFigure(name, await requestFromChild(receiver.child, 'report'), goal))
  }
  receiver.child.kill()
  return figures
}

/** Creates incidents at an even rate from a separate process: see `even-clients`. */
async function createEvenly(load: LoadOptions & { rate: number }): Promise<void> {
  const { child } = await startChild('delivery/even-clients.js', { LOAD: JSON.stringify(load) })
  const { failure } = await requestFromChild<{ failure: string | null }>(child, 'start')
  child.kill()
  if (failure) throw new Error(failure)
}

export async function subscribeTo(cluster: Cluster, url: string): Promise<void> {
  const created = await request(`${cluster.info.baseUrl}/webhooks`, {
    method: 'POST',
    headers: { ...incidents(cluster).headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'delivered', url, events: ['incident.created'], secret: 'bench' }),
  })
  if (created.statusCode !== 201) throw new Error(`no webhook: ${await created.body.text()}`)
  await created.body.dump()
}

async function createBare(options: {
  cluster: Cluster
  raw: { child: ChildProcess; port: number }
  seconds: number
  connections: number
}): Promise<Bare> {
  const { cluster, raw, seconds, connections } = options
  const spent = () => (cpuTimes(cluster).postgres ?? 0) + cpuMs(raw.child.pid ?? 0)
  const before = spent()
  const { perSecond, requests } = await createIncidents({
    url: `http://127.0.0.1:${raw.port}/itsm/incidents`,
    seconds,
    connections,
  })
  return { perSecond, cpuMs: (spent() - before) / requests }
}

/**
 * Creates incidents for a while with a number of clients, then waits until each has arrived and all consumers have
 * handled the events.
 */
export async function createAndDeliver(options: {
  cluster: Cluster
  receiver: ChildProcess
  seconds: number
  connections: number
}): Promise<Delivered> {
  const { cluster, receiver, seconds, connections } = options
  await consumersCaughtUp(cluster)
  await requestFromChild(receiver, 'report')
  const before = cpuTimes(cluster)
  const startedAt = performance.timeOrigin + performance.now()
  const { requests, failures } = await createIncidents({ ...incidents(cluster), seconds, connections })
  if (failures > 0) throw new Error(`${failures} of ${requests} incident creates failed`)
  const { events, lastAt } = await everyEventArrived(receiver, requests)
  await consumersCaughtUp(cluster)
  // The load's last requests may have been cut off between their commit and their response; those incidents are
  // delivered too.
  return {
    perSecond: events / ((lastAt - startedAt) / 1000),
    cpu: cpuSince(before, cpuTimes(cluster)),
    count: events,
  }
}

/** Waits for `expected` deliveries. */
export async function everyEventArrived(receiver: ChildProcess, expected: number) {
  for (;;) {
    const arrivals = await requestFromChild<{ events: number; lastAt: number }>(receiver, 'count')
    if (arrivals.events >= expected) return arrivals
    await delay(20)
  }
}

function deliveredFigures(measured: {
  bare: Bare[]
  ours: Delivered[]
  connections: number
  ratioGoal: number | undefined
  cpuGoal: number
}): Figure[] {
  const { connections, ratioGoal, cpuGoal } = measured
  const clients = connections === 1 ? 'one client' : `${connections} clients`
  const perSecond = median(measured.ours.map((round) => round.perSecond))
  const limit = median(measured.bare.map((round) => round.perSecond))
  const bareCost = median(measured.bare.map((round) => round.cpuMs))
  const costs = measured.ours.map(({ cpu, count }) => totalMs(cpu) / count)
  const cost = median(costs)
  const typical = measured.ours[costs.indexOf(cost)]
  const parts = typical ? breakdown(typical.cpu, typical.count) : ''
  return [
    {
      name: `incidents accepted and delivered, ${clients}`,
      value: `${perSecond.toFixed(0)}/s`,
      raw: `${limit.toFixed(0)}/s bare Express creates`,
      ratio: perSecond / limit,
      goal: ratioGoal === undefined ? '' : `≥ ${ratioGoal}`,
      met: ratioGoal === undefined || perSecond / limit >= ratioGoal,
    },
    {
      name: `CPU per delivered incident, ${clients}`,
      value: `${cost.toFixed(2)} ms (${parts})`,
      raw: `${bareCost.toFixed(2)} ms bare Express create`,
      ratio: cost / bareCost,
      goal: `≤ ${cpuGoal} ms`,
      met: cost <= cpuGoal,
    },
  ]
}

/** Later events of an incident are in the same log, and are signed and checked as well. */
async function eventsPerIncident({ info }: Cluster): Promise<number> {
  const sql = postgres(info.postgresUrl, { max: 1 })
  try {
    const [row] = await sql<{ share: number }[]>`
      select count(*)::float / count(*) filter (where type = 'incident.created') as share from itsm.events`
    return row?.share ?? 1
  } finally {
    await sql.end()
  }
}

function signatureFigure(eventMs: number): Figure {
  const { signUs, checkUs, verifiers } = signatureCostUs()
  const us = signUs + checkUs
  const share = us / 1_000 / eventMs
  return {
    name: 'signing an event and checking it wherever it is consumed',
    value: `${us.toFixed(0)} µs (${signUs.toFixed(0)} once, ${checkUs.toFixed(0)} in ${verifiers} services)`,
    raw: `${eventMs.toFixed(2)} ms of CPU per event`,
    ratio: share,
    goal: '≤ 0.05',
    met: share <= 0.05,
  }
}

function latencyFigure(
  name: string,
  { latencies }: { latencies: number[] },
  goal: { p50?: number; p99?: number },
): Figure {
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]
  return {
    name: `event to first attempt ${name}`,
    value: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
    goal: goal.p50 === undefined ? `p99 < ${goal.p99} ms` : `p50 ≤ ${goal.p50} ms`,
    met: goal.p50 === undefined ? p99 < (goal.p99 ?? 0) : p50 <= goal.p50,
  }
}
