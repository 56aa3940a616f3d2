import type { Cluster } from '@opsplane/local'
import { startChild } from './child.js'
import { createIncidents, type LoadResult, median, post } from './load.js'
import { copyTables, incidents, type MeasureOptions } from './log/creates.js'
import { breakdown, cpuSince, cpuTimes, totalMs } from './process-times.js'
import type { Figure } from './report.js'
import {
  measureEventStarts,
  measureNoisyNeighbour,
  measureWaitingRuns,
  publishedWorkflow,
} from './run-figures.js'

const rounds = 3
const stepCount = 3
const body = JSON.stringify({ input: { amount: 5, customer: { name: 'Ada', city: 'London' } } })

/** Three steps, each with its own commit: with paths only, or with JSONata that a child process evaluates. */
const definitions = {
  paths: ['{{ input.customer }}', '{{ steps.first.output.name }}', '{{ steps.second.output }}'],
  expressions: [
    '{{ input.amount * 2 }}',
    '{{ $uppercase(input.customer.name) }}',
    '{{ steps.second.output & " pays " & steps.first.output }}',
  ],
}

interface Measured {
  bare: LoadResult
  ours: LoadResult
  cpuMs: number
  parts: string
}

/**
 * Measures runs of three transforms, each committed separately, started and awaited through the gateway, compared
 * with bare Express creates in the same run: a create is one transaction, a run is four.
 */
export async function measureRuns(options: MeasureOptions): Promise<Figure[]> {
  const { cluster, seconds, say } = options
  await copyTables(cluster.info.postgresUrl)
  const raw = await startChild('log/raw-express.js', { DATABASE_URL: cluster.info.postgresUrl })
  const rawUrl = `http://127.0.0.1:${raw.port}/itsm/incidents`
  const figures: Figure[] = []
  for (const [kind, values] of Object.entries(definitions)) {
    const url = `${await transforms(cluster, kind, values)}/trigger?wait=20`
    const { headers } = incidents(cluster)
    await post({ url, headers, body, seconds: 4, connections: 32 })
    for (const connections of [32, 1]) {
      const measured: Measured[] = []
      for (let round = 1; round <= rounds; round++) {
        const bare = await createIncidents({ url: rawUrl, seconds, connections })
        const before = cpuTimes(cluster)
        const ours = await post({ url, headers, body, seconds, connections })
        const cpu = cpuSince(before, cpuTimes(cluster))
        if (ours.failures > 0) throw new Error(`${ours.failures} of ${ours.requests} runs failed`)
        measured.push({
          bare,
          ours,
          cpuMs: totalMs(cpu) / ours.requests,
          parts: breakdown(cpu, ours.requests),
        })
        say(
          `  ${kind}, ${connections} clients, round ${round}: bare ${bare.perSecond.toFixed(0)}/s, runs ${ours.perSecond.toFixed(0)}/s ` +
            `(p50 ${ours.p50Ms} ms, p99 ${ours.p99Ms} ms), ${measured.at(-1)?.parts} ms each`,
        )
      }
      figures.push(figureOf(kind, connections, measured))
    }
  }
  raw.child.kill()
  figures.push(...(await measureEventStarts(options)))
  figures.push(...(await measureNoisyNeighbour(options)))
  figures.push(...(await measureWaitingRuns(options)))
  return figures
}

function figureOf(kind: string, connections: number, measured: Measured[]): Figure {
  const perSecond = median(measured.map(({ ours }) => ours.perSecond))
  const limit = median(measured.map(({ bare }) => bare.perSecond))
  const p50Ms = median(measured.map(({ ours }) => ours.p50Ms))
  const cpuMs = median(measured.map((round) => round.cpuMs))
  const steps = (perSecond * stepCount).toFixed(0)
  return {
    name: `runs of three transforms (${kind}), ${connections === 1 ? 'one client' : `${connections} clients`}`,
    value: `${perSecond.toFixed(0)}/s (${steps} steps/s), p50 ${p50Ms} ms, ${cpuMs.toFixed(2)} ms of CPU`,
    raw: `${limit.toFixed(0)}/s bare Express creates`,
    ratio: perSecond / limit,
    goal: connections === 1 ? 'p50 ≤ 6 ms' : '≥ 500/s',
    met: connections === 1 ? p50Ms <= 6 : perSecond >= 500,
  }
}

/** Creates and publishes the workflow; returns its URL. */
async function transforms(cluster: Cluster, name: string, values: string[]): Promise<string> {
  const ids = ['first', 'second', 'third']
  const steps = values.map((value, index) => ({ id: ids[index], type: 'transform', value }))
  const id = await publishedWorkflow(cluster, name, { steps })
  return `${cluster.info.baseUrl}/workflows/${id}`
}
