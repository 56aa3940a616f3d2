import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { request } from 'undici'
import { cpuMs, percentile, requestFromChild } from '../child.js'
import { createIncidentsEvenly } from '../load.js'
import { incidents, type MeasureOptions } from '../log/creates.js'
import type { Figure } from '../report.js'
import { startReceiver } from './receiver.js'

/** Webhooks are divided into groups; each event is for the webhooks of one group, one of which may be a tarpit. */
const groups = 5
const perGroup = 20
const eventsPerSecond = 15
const phaseSeconds = 12
/** Whether the tarpits hold requests, for each phase. */
const order = [false, true, true, false, false, true, true, false, false, true]

interface Report {
  latencies: number[]
  tarpit: { requests: number; heldAtMost: number; endpoints: number }
}

/**
 * Measures the cost of tarpits for other endpoints: the latency from event to arrival at 95 healthy endpoints while
 * 5 others answer too, and while those 5 read every request and never answer.
 *
 * The load is 15 events/s for 20 webhooks each, 300 deliveries/s, a fraction of the dispatcher's capacity. Near
 * saturation every additional statement would show as latency, whichever endpoint it is for; at this rate a healthy
 * delivery is only late if it waits for a tarpit: in a queue, for a slot, for a connection, behind a statement.
 * Every event is also for one tarpit, and all endpoints share one origin and therefore one connection pool: the
 * harder case.
 *
 * Both kinds of phases use the same webhooks and differ only in the behavior of the five endpoints. They alternate,
 * A B B A A B …, so that a drift of the machine or of growing tables affects both kinds equally. The figure is the
 * median of the phases' p99, 3,420 deliveries each and 17,100 of each kind: unrelated activity on the machine for a
 * few seconds raises the p99 of all samples together, but not that median. The spread between phases of one kind
 * shows how reliable the ratio is. Between phases the tarpits answer until the backlog is empty. A phase is too
 * short for a delivery to fail (four timeouts of 5 s and the delays between them), so no tarpit is paused, which is
 * checked.
 */
export async function measureTarpit({ cluster, say }: MeasureOptions): Promise<Figure[]> {
  const receiver = await startReceiver(cluster.certificate)
  const sql = postgres(cluster.info.postgresUrl, { max: 1 })
  const { url, headers: production } = incidents(cluster)
  // A separate environment: the webhooks of other measurements receive none of these events.
  const headers = { ...production, 'x-environment': 'staging' }
  const webhookIds = await createWebhooks(`${cluster.info.baseUrl}/webhooks`, headers, receiver.origin)

  const load = (seconds: number) =>
    createIncidentsEvenly({
      url,
      headers,
      seconds,
      connections: 16,
      rate: eventsPerSecond,
      titleOf: (n) => title(n % groups),
    })
  const phase = async (isHolding: boolean) => {
    await requestFromChild(receiver.child, 'report')
    await requestFromChild(receiver.child, isHolding ? 'hold' : 'let go')
    const pid = cluster.services.dispatcher.pid() ?? 0
    const before = cpuMs(pid)
    await load(phaseSeconds)
    await waitForArrivals(receiver.child, phaseSeconds * eventsPerSecond * (perGroup - 1))
    const report = await requestFromChild<Report>(receiver.child, 'report')
    const spent = Math.round(cpuMs(pid) - before)
    if (isHolding) await tarpitsWereActive(sql, webhookIds, report)
    await requestFromChild(receiver.child, 'let go')
    await nothingLeft(sql)
    say(`  ${isHolding ? 'with tarpits' : 'all healthy '}: ${described(report)}; dispatcher ${spent} ms CPU`)
    return report
  }

  say(`Sending to ${groups * perGroup} webhooks, ${groups} of them tarpits or not…`)
  await load(5)
  await nothingLeft(sql)
  const phases: { holding: boolean; report: Report }[] = []
  for (const isHolding of order) phases.push({ holding: isHolding, report: await phase(isHolding) })
  await sql.end()
  receiver.child.kill()

  const typical = (kind: boolean) => medians(phases.filter(({ holding }) => holding === kind))
  const [without, amongTarpits] = [typical(false), typical(true)]
  const ratio = amongTarpits.p99 / without.p99
  return [
    {
      name: 'healthy endpoints among 5 % tarpits',
      value: `p50 ${amongTarpits.p50.toFixed(0)} ms, p99 ${amongTarpits.p99.toFixed(0)} ms (phases ${amongTarpits.spread} ms)`,
      raw: `p50 ${without.p50.toFixed(0)} ms, p99 ${without.p99.toFixed(0)} ms all healthy (phases ${without.spread} ms)`,
      ratio,
      goal: 'p99 < 1.2 ×',
      met: ratio < 1.2,
    },
  ]
}

const title = (group: number) => `Checkout ${group} answers 500 for one customer in ten`

async function createWebhooks(url: string, headers: Record<string, string>, origin: string) {
  const ids: string[] = []
  for (let n = 0; n < groups * perGroup; n++) {
    const group = n % groups
    const path = n < groups ? `tarpit/${n}` : `healthy/${n}`
    const created = await request(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({
        name: path,
        url: `${origin}/${path}`,
        events: ['incident.created'],
        filter: { 'data.title': title(group) },
        secret: 'bench',
        retries: 3,
        timeout_ms: 5_000,
      }),
    })
    if (created.statusCode !== 201) throw new Error(`no webhook: ${await created.body.text()}`)
    const { data } = (await created.body.json()) as { data: { id: string } }
    ids.push(data.id)
  }
  return ids
}

async function waitForArrivals(child: ChildProcess, expected: number): Promise<void> {
  for (;;) {
    const { count } = await requestFromChild<{ count: number }>(child, 'count')
    if (count >= expected) return
    await delay(100)
  }
}

/** Waits until every event has been published and each of its deliveries has ended. */
async function nothingLeft(sql: postgres.Sql): Promise<void> {
  for (;;) {
    const [row] = await sql`
      select (select count(*) from itsm.outbox)
           + (select count(*) from dispatcher.deliveries where status in ('pending', 'retrying')) = 0 as done`
    if (row?.done) return
    await delay(300)
  }
}

/** Checks that no tarpit was paused or received nothing: either would invalidate the figure. */
async function tarpitsWereActive(sql: postgres.Sql, webhookIds: string[], { tarpit }: Report) {
  const [row] = await sql<{ active: number }[]>`
    select count(*)::int as active from dispatcher.webhooks where id = any (${webhookIds}) and status = 'active'`
  if (row?.active !== webhookIds.length || tarpit.endpoints !== groups)
    throw new Error(`${row?.active} webhooks are active, and ${tarpit.endpoints} tarpits held requests`)
}

function described({ latencies, tarpit }: Report): string {
  const tarpitSummary =
    tarpit.requests === 0 ? '' : `; ${tarpit.requests} requests held, ${tarpit.heldAtMost} at once`
  return `${latencies.length} healthy deliveries, p50 ${percentile(latencies, 0.5).toFixed(0)} ms, p99 ${percentile(latencies, 0.99).toFixed(0)} ms${tarpitSummary}`
}

function medians(phases: { report: Report }[]) {
  const each = (share: number) => phases.map(({ report }) => percentile(report.latencies, share))
  const p99s = each(0.99)
  return {
    p50: percentile(each(0.5), 0.5),
    p99: percentile(p99s, 0.5),
    spread: `${Math.min(...p99s).toFixed(0)}–${Math.max(...p99s).toFixed(0)}`,
  }
}
