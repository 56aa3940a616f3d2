import type { ChildProcess } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import type { Cluster } from '@opsplane/local'
import postgres from 'postgres'
import { request } from 'undici'
import { percentile, requestFromChild } from '../child.js'
import { createIncidentsEvenly } from '../load.js'
import { incidents, type MeasureOptions } from '../log/creates.js'
import { consumersCaughtUp } from '../log/pipeline.js'
import { cpuSince, cpuTimes } from '../process-times.js'
import type { Figure } from '../report.js'
import { subscribeTo } from './delivered.js'
import { startPlainReceiver } from './receiver.js'

const [few, many] = [100, 100_000]
const rate = 50

interface Cost {
  /** CPU time of the dispatcher per delivered event. */
  cpuMs: number
  /** Time of the dispatcher's statements (fan-out, claim and record) per delivered event. */
  statementMs: number
  p50Ms: number
}

/**
 * Measures the cost of delivering to one webhook in a workspace that has 100 webhooks, and 100,000, the others being
 * subscribed to other events: the match, the index lookup, the query for due deliveries.
 */
export async function measureWebhooks({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  const receiver = await startPlainReceiver()
  const sql = postgres(cluster.info.postgresUrl, { max: 1, onnotice: () => {} })
  await sql`create extension if not exists pg_stat_statements`
  await subscribeTo(cluster, `${receiver.origin}/hook`)
  const template = await listensForSomethingElse(cluster, receiver.origin)
  const costs: Cost[] = []
  for (const count of [few, many]) {
    say(`Delivering to one of ${count} webhooks…`)
    await copyWebhook(sql, template, count)
    // The first event finds a newer revision of the tenant's webhooks and causes them to be loaded.
    await deliver({ cluster, receiver: receiver.child, sql, seconds: 2 })
    costs.push(await deliver({ cluster, receiver: receiver.child, sql, seconds: Math.max(seconds, 10) }))
  }
  await sql.end()
  receiver.child.kill()
  const [small, large] = costs
  if (!small || !large) throw new Error('nothing was measured')
  return [
    figure('dispatcher CPU per delivery', small.cpuMs, large.cpuMs),
    figure('dispatcher statements per delivery', small.statementMs, large.statementMs),
    { ...figure('event to first attempt', small.p50Ms, large.p50Ms), goal: '', met: true },
  ]
}

function figure(name: string, small: number, large: number): Figure {
  return {
    name: `${name}, ${many} webhooks`,
    value: `${large.toFixed(2)} ms`,
    raw: `${small.toFixed(2)} ms with ${few}`,
    ratio: large / small,
    goal: '≤ 2 ×',
    met: large <= 2 * small,
  }
}

async function listensForSomethingElse(cluster: Cluster, origin: string): Promise<string> {
  const created = await request(`${cluster.info.baseUrl}/webhooks`, {
    method: 'POST',
    headers: { ...incidents(cluster).headers, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'other', url: `${origin}/other`, events: ['problem.created'] }),
  })
  if (created.statusCode !== 201) throw new Error(`no webhook: ${await created.body.text()}`)
  return ((await created.body.json()) as { data: { id: string } }).data.id
}

/**
 * Copies by SQL, because creating that many through the API would take minutes; triggers create a webhook's
 * dependent rows.
 */
async function copyWebhook(sql: postgres.Sql, template: string, count: number): Promise<void> {
  await sql`
    with copies as (
      select left(id, 4) || lpad(n::text, length(id) - 4, '0') as id, w.workspace_id, w.environment, w.version, w.state
        from dispatcher.webhooks w, generate_series(3, ${count}::int) n where w.id = ${template})
    insert into dispatcher.webhooks (id, workspace_id, environment, version, state)
    select id, workspace_id, environment, version,
           jsonb_set(state::jsonb, '{id}', to_jsonb(id))::json from copies
    on conflict do nothing`
  await sql`vacuum analyze`
}

async function deliver(options: {
  cluster: Cluster
  receiver: ChildProcess
  sql: postgres.Sql
  seconds: number
}): Promise<Cost> {
  const { cluster, receiver, sql, seconds } = options
  await consumersCaughtUp(cluster)
  await requestFromChild(receiver, 'report')
  await sql`select pg_stat_statements_reset()`
  const before = cpuTimes(cluster)
  await createIncidentsEvenly({ ...incidents(cluster), seconds, connections: 16, rate })
  const expected = Math.floor(rate * seconds)
  while ((await requestFromChild<{ events: number }>(receiver, 'count')).events < expected) await delay(50)
  await consumersCaughtUp(cluster)
  const cpu = cpuSince(before, cpuTimes(cluster))
  const [row] = await sql<{ ms: number }[]>`
    select sum(total_exec_time) as ms from pg_stat_statements s join pg_roles r on r.oid = s.userid
     where rolname = opsplane.role_name('dispatcher')`
  const { latencies } = await requestFromChild<{ latencies: number[] }>(receiver, 'report')
  return {
    cpuMs: (cpu.dispatcher ?? 0) / expected,
    statementMs: (row?.ms ?? 0) / expected,
    p50Ms: percentile(latencies, 0.5),
  }
}
