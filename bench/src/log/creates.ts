import type { Cluster } from '@opsplane/local'
import postgres from 'postgres'
import { cpuMs, startChild } from '../child.js'
import { createIncidents, median } from '../load.js'
import type { Figure } from '../report.js'

export interface MeasureOptions {
  cluster: Cluster
  seconds: number
  say(text: string): void
}

const connections = 32

/** Measures incident creates through the gateway, compared with bare Express + postgres.js making the same inserts. */
export async function measureCreates({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  await copyTables(cluster.info.postgresUrl)
  const raw = await startChild('log/raw-express.js', { DATABASE_URL: cluster.info.postgresUrl })
  const rawUrl = `http://127.0.0.1:${raw.port}/itsm/incidents`
  const { url, headers } = incidents(cluster)

  say('Warming up…')
  await createIncidents({ url: rawUrl, seconds: 2, connections })
  await createIncidents({ url, headers, seconds: 4, connections })

  // Alternates between both, so that both run under the same machine conditions.
  const rounds = { raw: [] as number[], ours: [] as number[], gatewayMs: [] as number[] }
  for (let round = 1; round <= 3; round++) {
    const limit = await createIncidents({ url: rawUrl, seconds, connections })
    rounds.raw.push(limit.perSecond)
    const gatewayPid = cluster.services.gateway.pid() ?? 0
    const before = cpuMs(gatewayPid)
    const ours = await createIncidents({ url, headers, seconds, connections })
    if (ours.failures > 0) throw new Error(`${ours.failures} of ${ours.requests} incident creates failed`)
    rounds.ours.push(ours.perSecond)
    rounds.gatewayMs.push((cpuMs(gatewayPid) - before) / ours.requests)
    say(
      `  round ${round}: bare ${limit.perSecond.toFixed(0)}/s, Opsplane ${ours.perSecond.toFixed(0)}/s (p50 ${ours.p50Ms} ms, p99 ${ours.p99Ms} ms)`,
    )
  }
  raw.child.kill()
  const [limit, ours, gatewayMs] = [median(rounds.raw), median(rounds.ours), median(rounds.gatewayMs)]
  return [
    {
      name: 'incident creates through the gateway',
      value: `${ours.toFixed(0)}/s`,
      raw: `${limit.toFixed(0)}/s bare Express + postgres.js`,
      ratio: ours / limit,
      goal: '≥ 0.85',
      met: ours / limit >= 0.85,
    },
    {
      name: 'gateway CPU per request',
      value: `${gatewayMs.toFixed(3)} ms`,
      goal: '≤ 0.35 ms',
      met: gatewayMs <= 0.35,
    },
  ]
}

export function incidents(cluster: Cluster) {
  return {
    url: `${cluster.info.baseUrl}/itsm/incidents`,
    headers: { authorization: `Bearer ${cluster.info.apiKey}`, 'x-workspace': cluster.info.workspace },
  }
}

/** Copies the tables with their indexes and generated columns into a separate schema for the raw server. */
export async function copyTables(adminUrl: string) {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  await sql.unsafe(`
    drop schema if exists raw cascade;
    create schema raw;
    create table raw.events (like itsm.events including all);
    create table raw.incidents (like itsm.incidents including all);
    create trigger compute before insert or update of state on raw.incidents
      for each row execute function itsm.incidents_compute();`)
  await sql.end()
}
