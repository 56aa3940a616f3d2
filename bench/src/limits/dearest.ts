import { setTimeout as delay } from 'node:timers/promises'
import { Agent, request } from 'undici'
import { percentile, requestFromChild, startChild } from '../child.js'
import { evenly } from '../load.js'
import { incidents, type MeasureOptions } from '../log/creates.js'
import { call } from '../records/record-calls.js'
import type { Figure } from '../report.js'
import type { AnswerCounts } from './dearest-clients.js'
import { longestSlices, type Slice } from './loop-delays.js'
import { candidates, dearest, fill, type Operation } from './operations.js'
import { secondTenant } from './second-tenant.js'

const count = 10
const connections = 24
/** Reads of the second tenant, per second. */
const perSecond = 20
const settleSeconds = 2
const maxP99Ms = 250
const maxSliceMs = 50

interface Sample {
  latencies: number[]
  failures: number
  /** By process. */
  slices: Record<string, Slice>
}

/**
 * Measures the latency of a second tenant's reads of an incident while another tenant has 24 connections on each of
 * its ten most expensive operations, one operation after the other, with the limits of a deployment; and the longest
 * block of each process's event loop. The ten are determined first, among all reads of the OpenAPI document without
 * path parameters, and some requests that compute.
 */
export async function measureDearest({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  const gateway = await cluster.replica('gateway', {
    RATE_LIMIT_PER_MINUTE: '6000',
    CONNECTIONS_PER_ADDRESS: '12000',
    LIMITS: '{}',
  })
  const base = `${gateway.url}/api/v1`
  const processes = { ...cluster.services, gateway }
  try {
    const { headers: first } = incidents(cluster)
    const second = await secondTenant(cluster)
    const target = { url: base, headers: async () => second }
    const { data } = await call(target, 'POST', `${cluster.info.baseUrl}/itsm/incidents`, {
      title: 'Read during the load',
    })
    const sample = async (): Promise<Sample> => {
      await longestSlices(processes)
      const reads = await readEvenly(`${base}/itsm/incidents/${data.id}`, second, seconds)
      return { ...reads, slices: await longestSlices(processes) }
    }

    say('Filling a tenant, and looking for its dearest operations…')
    await fill(cluster.info.baseUrl, first)
    // Through the gateway without limits, because the cost in the services is compared.
    const all = await candidates(cluster.info.baseUrl, first)
    const chosen = await dearest(cluster.info.baseUrl, all, count)
    for (const { name, ms, bytes } of chosen) say(`  ${name}: ${ms.toFixed(1)} ms, ${bytes} bytes`)
    const quiet = await sample()
    say(`  alone: ${described(quiet)}`)

    const figures: Figure[] = []
    for (const operation of chosen) {
      const { busy, answers } = await measureDuring(base, operation, seconds, sample)
      say(`  during ${operation.name}: ${described(busy)}; answers ${JSON.stringify(answers)}`)
      figures.push(...figuresOf(operation, quiet, busy))
    }
    return figures
  } finally {
    await gateway.stop()
  }
}

async function measureDuring(
  base: string,
  operation: Operation,
  seconds: number,
  sample: () => Promise<Sample>,
) {
  const { child } = await startChild('limits/dearest-clients.js', {
    BASE_URL: base,
    OPERATION: JSON.stringify(operation),
    CONNECTIONS: String(connections),
    SECONDS: String(seconds + settleSeconds + 30),
  })
  try {
    const busy = await sample()
    return { busy, answers: await requestFromChild<AnswerCounts>(child, 'counts') }
  } finally {
    child.kill()
    // Accepted work is completed before the next operation starts.
    await delay(settleSeconds * 1_000)
  }
}

function figuresOf({ name }: Operation, quiet: Sample, busy: Sample): Figure[] {
  const p99 = percentile(busy.latencies, 0.99)
  const [process, slice] = longest(busy)
  return [
    {
      name: `a second tenant's incident read during ${connections} connections on ${name}`,
      value: `p99 ${p99.toFixed(1)} ms, ${busy.failures} failed`,
      raw: `${percentile(quiet.latencies, 0.99).toFixed(1)} ms alone`,
      ratio: p99 / percentile(quiet.latencies, 0.99),
      goal: `p99 ≤ ${maxP99Ms} ms, none failed`,
      met: p99 <= maxP99Ms && busy.failures === 0,
    },
    {
      name: `the longest slice of a process meanwhile (${process})`,
      value: `${slice.cpuMs.toFixed(0)} ms of CPU (${slice.wallMs.toFixed(0)} ms by the clock)`,
      raw: `${longest(quiet)[1].cpuMs.toFixed(0)} ms alone`,
      ratio: slice.cpuMs / Math.max(1, longest(quiet)[1].cpuMs),
      goal: `≤ ${maxSliceMs} ms of CPU`,
      met: slice.cpuMs <= maxSliceMs,
    },
  ]
}

const longest = ({ slices }: Sample): [string, Slice] =>
  Object.entries(slices).reduce(
    (longestEntry, each) => (each[1].cpuMs > longestEntry[1].cpuMs ? each : longestEntry),
    ['none', { cpuMs: 0, wallMs: 0 }],
  )

function described(sample: Sample): string {
  const [process, slice] = longest(sample)
  const [p50, p99] = [0.5, 0.99].map((share) => percentile(sample.latencies, share).toFixed(1))
  return `p50 ${p50} ms, p99 ${p99} ms, ${sample.failures} failed, longest slice ${slice.cpuMs.toFixed(0)} ms of CPU, ${slice.wallMs.toFixed(0)} ms by the clock, of ${process}`
}

async function readEvenly(url: string, headers: Record<string, string>, seconds: number) {
  const agent = new Agent({ connections: 64 })
  const latencies: number[] = []
  let failures = 0
  await evenly({ rate: perSecond, seconds }, async () => {
    const startedAt = performance.now()
    const answer = await request(url, { headers, dispatcher: agent })
    await answer.body.dump()
    if (answer.statusCode !== 200) failures++
    latencies.push(performance.now() - startedAt)
  })
  await agent.close()
  return { latencies, failures }
}
