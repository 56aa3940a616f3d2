import { setTimeout as delay } from 'node:timers/promises'
import postgres from 'postgres'
import { Agent, request } from 'undici'
import { percentile, requestFromChild } from '../child.js'
import { createIncidents, createIncidentsEvenly } from '../load.js'
import { incidents, type MeasureOptions } from '../log/creates.js'
import type { Figure } from '../report.js'
import { startReceiver } from './receiver.js'

const backlog = 8_000

/**
 * Measures the time from event to first attempt, deliveries per second, and statements per event, with one healthy
 * receiver.
 */
export async function measureDeliveries({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  const { certificate, info } = cluster
  const receiver = await startReceiver(certificate)
  const receiverUrl = `${receiver.origin}/hook`
  const rawPerSecond = await rawPosts(receiverUrl, certificate.cert, backlog)
  await requestFromChild(receiver.child, 'report')

  const { url, headers } = incidents(cluster)
  await drained(cluster.info.postgresUrl)
  const created = await request(`${info.baseUrl}/webhooks`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'bench', url: receiverUrl, events: ['incident.created'], secret: 'bench' }),
  })
  if (created.statusCode !== 201) throw new Error(`no webhook: ${await created.body.text()}`)
  await created.body.dump()

  say('Finding saturation with deliveries on…')
  const saturated = await createIncidents({ url, headers, seconds, connections: 32 })
  await settled(receiver.child)
  await requestFromChild(receiver.child, 'report')
  const rate = Math.floor(saturated.perSecond / 2)
  say(`  saturation ${saturated.perSecond.toFixed(0)}/s; now ${rate}/s for the latency…`)
  const statements = await statementCounter(info.postgresUrl)
  await statements.reset()
  await createIncidentsEvenly({ url, headers, seconds, connections: 64, rate })
  await settled(receiver.child)
  const { latencies } = await requestFromChild<{ latencies: number[] }>(receiver.child, 'report')
  const perEvent = (await statements.count()) / latencies.length
  const [p50, p99] = [percentile(latencies, 0.5), percentile(latencies, 0.99)]

  say(`Draining a backlog of ${backlog} events…`)
  await cluster.services.dispatcher.stop()
  let made = 0
  while (made < backlog)
    made += (await createIncidents({ url, headers, seconds: 2, connections: 32 })).requests
  await statements.reset()
  await cluster.services.dispatcher.start()
  const { count, perSecond } = await drainRate(receiver.child, made)
  const perDrainedEvent = (await statements.count()) / count
  await statements.close()
  receiver.child.kill()
  return [
    {
      name: 'event to first attempt at half of saturation',
      value: `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
      goal: 'p99 < 150 ms',
      met: p99 < 150,
    },
    {
      name: 'deliveries',
      value: `${perSecond.toFixed(0)}/s`,
      raw: `${rawPerSecond.toFixed(0)}/s bare undici POSTs`,
      ratio: perSecond / rawPerSecond,
      goal: '≥ 1000/s',
      met: perSecond >= 1000,
    },
    {
      name: 'SQL statements per event at half of saturation',
      value: perEvent.toFixed(2),
      goal: '≤ 4',
      met: perEvent <= 4,
    },
    {
      name: 'SQL statements per event of a backlog',
      value: perDrainedEvent.toFixed(2),
      goal: '≤ 4',
      met: perDrainedEvent <= 4,
    },
  ]
}

/** Raw limit of sending: the same number of POSTs to the same receiver, with nothing recorded. */
async function rawPosts(url: string, ca: string, count: number): Promise<number> {
  const agent = new Agent({ connections: 32, connect: { ca } })
  const body = JSON.stringify({ id: 'evt', data: { title: 'x'.repeat(400) } })
  let sent = 0
  const started = performance.now()
  const worker = async () => {
    while (sent++ < count) {
      const response = await request(url, { method: 'POST', body, dispatcher: agent })
      await response.body.dump()
    }
  }
  await Promise.all(Array.from({ length: 32 }, worker))
  const perSecond = count / ((performance.now() - started) / 1000)
  await agent.close()
  return perSecond
}

/** Waits until no more deliveries arrive. */
async function settled(child: Parameters<typeof requestFromChild>[0]): Promise<void> {
  let last = -1
  for (;;) {
    const { count } = await requestFromChild<{ count: number }>(child, 'count')
    if (count === last) return
    last = count
    await delay(1500)
  }
}

/** Waits until the services have published everything. */
async function drained(adminUrl: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1 })
  for (;;) {
    const [row] = await sql`select count(*)::int as waiting from itsm.outbox`
    if (row?.waiting === 0) break
    await delay(200)
  }
  await sql.end()
}

/** Deliveries per second, from the first to the last of the backlog. */
async function drainRate(child: Parameters<typeof requestFromChild>[0], expected: number) {
  let startedAt = 0
  let atStart = 0
  for (;;) {
    const { count } = await requestFromChild<{ count: number }>(child, 'count')
    if (startedAt === 0 && count > 0) {
      startedAt = performance.now()
      atStart = count
    }
    if (count >= expected) {
      return { count, perSecond: (count - atStart) / ((performance.now() - startedAt) / 1000) }
    }
    await delay(20)
  }
}

/** Counts the statements that the dispatcher's role has executed, including polls and transaction control. */
async function statementCounter(adminUrl: string) {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  await sql`create extension if not exists pg_stat_statements`
  return {
    reset: async () => void (await sql`select pg_stat_statements_reset()`),
    count: async () => {
      const [row] = await sql<{ calls: number }[]>`
        select coalesce(sum(calls), 0)::int as calls
          from pg_stat_statements s join pg_roles r on r.oid = s.userid where r.rolname = opsplane.role_name('dispatcher')`
      return row?.calls ?? 0
    },
    close: () => sql.end(),
  }
}
