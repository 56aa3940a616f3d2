import { Agent, request } from 'undici'
import { percentile, startChild } from '../child.js'
import { evenly } from '../load.js'
import { incidents, type MeasureOptions } from '../log/creates.js'
import type { Figure } from '../report.js'
import { secondTenant } from './second-tenant.js'

/** Requests of the second tenant, per second. */
const perSecond = 20
const settleSeconds = 2
/** Several rounds: the p99 of a single sample depends on a few requests, which any activity on the machine can delay. */
const rounds = 3
const maxRatio = 2

/** The floods with their requests per second; see flood-clients.ts. */
const floods = {
  anonymous: 400,
  'wrong keys': 400,
  authenticated: 400,
  'slow bodies': 100,
  polls: 200,
  logins: 400,
} as const

interface Sample {
  latencies: number[]
  failures: number
}

/**
 * Measures a second tenant's p99 with the default limits, during floods of every kind that come from its own
 * address, and without a flood. Its own traffic is far below any limit, so each of its requests must succeed.
 */
export async function measureFloods({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  // With the limits of a deployment; other measurements turn them off.
  const gateway = await cluster.replica('gateway', {
    RATE_LIMIT_PER_MINUTE: '6000',
    CONNECTIONS_PER_ADDRESS: '12000',
    LIMITS: '{}',
  })
  const base = `${gateway.url}/api/v1`
  const { headers: first } = incidents(cluster)
  const second = await secondTenant(cluster)
  const sample = () => sendRequests(base, second, seconds)
  const duringFlood = async (kind: string, rate: number) => {
    const { child } = await startChild('limits/flood-clients.js', {
      BASE_URL: base,
      KIND: kind,
      PER_SECOND: String(rate),
      SECONDS: String(seconds + settleSeconds + 30),
      AUTHORIZATION: first.authorization ?? '',
      WORKSPACE: first['x-workspace'] ?? '',
      EMAIL: cluster.secrets.owner.email,
    })
    try {
      await sendRequests(base, second, settleSeconds)
      return await sample()
    } finally {
      child.kill()
    }
  }
  const figures: Figure[] = []
  try {
    say('A second tenant without a flood…')
    await sendRequests(base, second, settleSeconds)
    for (const [kind, rate] of Object.entries(floods)) {
      say(`A second tenant during a flood: ${kind}…`)
      const quiet: Sample[] = []
      const busy: Sample[] = []
      // One directly after the other, so that a drift of the machine affects both.
      for (let round = 0; round < rounds; round++) {
        quiet.push(await sample())
        busy.push(await duringFlood(kind, rate))
      }
      figures.push(compareSamples(`${kind}, ${rate}/s`, together(quiet), together(busy)))
    }
  } finally {
    await gateway.stop()
  }
  return figures
}

const together = (samples: readonly Sample[]): Sample => ({
  latencies: samples.flatMap(({ latencies }) => latencies),
  failures: samples.reduce((sum, { failures }) => sum + failures, 0),
})

function compareSamples(kind: string, quiet: Sample, busy: Sample): Figure {
  const [before, during] = [percentile(quiet.latencies, 0.99), percentile(busy.latencies, 0.99)]
  const both = ({ latencies }: Sample) =>
    `p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`
  return {
    name: `a second tenant during a flood: ${kind}`,
    value: `${both(busy)}, ${busy.failures} failed`,
    raw: `${both(quiet)} without`,
    ratio: during / before,
    goal: `p99 ≤ ${maxRatio} ×, none failed`,
    met: during <= maxRatio * before && busy.failures === 0,
  }
}

/** Sends reads and creates at an even rate. */
async function sendRequests(base: string, headers: Record<string, string>, seconds: number): Promise<Sample> {
  const agent = new Agent({ connections: 64 })
  const sample: Sample = { latencies: [], failures: 0 }
  const timed = async (path: string, body: string | null) => {
    const startedAt = performance.now()
    const answer = await request(`${base}${path}`, {
      method: body === null ? 'GET' : 'POST',
      headers: body === null ? headers : { ...headers, 'content-type': 'application/json' },
      body,
      dispatcher: agent,
    })
    await answer.body.dump()
    if (answer.statusCode >= 300) sample.failures++
    sample.latencies.push(performance.now() - startedAt)
  }
  await evenly({ rate: perSecond, seconds }, async () => {
    await Promise.all([
      timed('/itsm/incidents?limit=1', null),
      timed('/itsm/incidents', '{"title":"Meanwhile"}'),
    ])
  })
  await agent.close()
  return sample
}
