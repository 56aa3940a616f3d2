import type { Cluster } from '@opsplane/local'
import postgres from 'postgres'
import { startChild } from '../child.js'
import { type LoadResult, median, post } from '../load.js'
import { incidents, type MeasureOptions } from '../log/creates.js'
import { breakdown, cpuSince, cpuTimes, totalMs } from '../process-times.js'
import type { Figure } from '../report.js'
import { caller } from '../run-figures.js'

const rounds = 3
const connections = 32
const goal = 0.4
const artifactCode = 'export default async (input) => ({ doubled: input.n * 2 })'
const body = JSON.stringify({ input: { n: 21 } })

/**
 * Compares invocations through the gateway with bare Express that runs the same code in its own process and writes
 * the same rows.
 */
export async function measureInvocations({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  await copyExecutions(cluster.info.postgresUrl)
  const env = { DATABASE_URL: cluster.info.postgresUrl, ARTIFACT_CODE: artifactCode }
  const raw = await startChild('code/raw-code.js', env)
  const bare = { url: `http://127.0.0.1:${raw.port}/invoke`, body, connections }
  const { headers } = incidents(cluster)
  const invoke = { url: await installed(cluster), headers, body, connections }
  await post({ ...bare, seconds: 2 })
  await post({ ...invoke, seconds: 4 })

  const measured: { bare: LoadResult; ours: LoadResult; cpuMs: number }[] = []
  // Alternates between both, so that both run under the same machine conditions.
  for (let round = 1; round <= rounds; round++) {
    const limit = await post({ ...bare, seconds })
    const before = cpuTimes(cluster)
    const ours = await post({ ...invoke, seconds })
    const cpu = cpuSince(before, cpuTimes(cluster))
    const failures = limit.failures + ours.failures
    if (failures > 0) throw new Error(`${failures} of ${limit.requests + ours.requests} invocations failed`)
    measured.push({ bare: limit, ours, cpuMs: totalMs(cpu) / ours.requests })
    say(
      `  round ${round}: bare ${limit.perSecond.toFixed(0)}/s, invocations ${ours.perSecond.toFixed(0)}/s ` +
        `(p50 ${ours.p50Ms} ms, p99 ${ours.p99Ms} ms), ${breakdown(cpu, ours.requests)} ms each`,
    )
  }
  raw.child.kill()
  const limit = median(measured.map((round) => round.bare.perSecond))
  const perSecond = median(measured.map((round) => round.ours.perSecond))
  const cpuMs = median(measured.map((round) => round.cpuMs))
  return [
    {
      name: `invocations of an artifact, ${connections} clients`,
      value: `${perSecond.toFixed(0)}/s, ${cpuMs.toFixed(2)} ms of CPU without the children`,
      raw: `${limit.toFixed(0)}/s bare Express + QuickJS + the same rows`,
      ratio: perSecond / limit,
      goal: `≥ ${goal}`,
      met: perSecond / limit >= goal,
    },
  ]
}

/** Installs the artifact and returns the URL that invokes it. */
async function installed(cluster: Cluster): Promise<string> {
  const artifact = { slug: 'doubles', kind: 'workflow_action', source: 'doubles.ts' }
  await caller(cluster)('/sdk/packs/install', {
    manifest: { format: 'opsplane.pack/1', name: 'bench', version: '1.0.0', artifacts: [artifact] },
    grant: {},
    files: { 'doubles.ts': artifactCode.replace('(input)', '(input: { n: number })') },
  })
  return `${cluster.info.baseUrl}/sdk/artifacts/doubles/invoke`
}

/** Copies the table with its indexes into a separate schema for the raw server. */
async function copyExecutions(adminUrl: string): Promise<void> {
  const sql = postgres(adminUrl, { max: 1, onnotice: () => {} })
  await sql.unsafe(`
    create schema if not exists raw;
    drop table if exists raw.executions;
    create table raw.executions (like sdk.executions including all);
    create sequence if not exists raw.execution_changes;`)
  await sql.end()
}
