import { Agent, request } from 'undici'
import { cpuMs, percentile, requestFromChild, startChild } from '../child.js'
import { evenly } from '../load.js'
import { incidents, type MeasureOptions } from '../log/creates.js'
import type { Figure } from '../report.js'
import type { GuessCounts } from './guess-clients.js'

/** Rate of each kind of request that signed-in users send meanwhile, per second. */
const perSecond = 20
const guessesPerSecond = 1_050
const minGuesses = 1_000
const maxRatio = 2
const settleSeconds = 2

interface Latencies {
  me: number[]
  creates: number[]
}

/**
 * Measures the latency of other requests while passwords are guessed, compared with the same number of anonymous
 * requests that are rejected without a password check (the cost of that much traffic in any case), and with no other
 * requests.
 */
export async function measureLoginFlood({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  // This gateway trusts X-Forwarded-For, so that the guesses come from many addresses.
  const gateway = await cluster.replica('gateway', {
    TRUST_PROXY_CIDRS: '127.0.0.0/8',
    ANONYMOUS_RATE_LIMIT_PER_MINUTE: '0',
  })
  const base = `${gateway.url}/api/v1`
  const { headers } = incidents(cluster)

  say('Logins guessed at, warming up…')
  await others(base, headers, settleSeconds)
  const cpu = () => ({
    gateway: cpuMs(gateway.pid() ?? 0),
    settings: cpuMs(cluster.services.settings.pid() ?? 0),
  })
  const cpuAtFirst = cpu()
  const quiet = await others(base, headers, seconds)
  const cpuQuiet = cpu()
  const strangers = (target: string) =>
    startChild('limits/guess-clients.js', {
      BASE_URL: base,
      TARGET: target,
      EMAIL: cluster.secrets.owner.email,
      PER_SECOND: String(guessesPerSecond),
      SECONDS: String(seconds + 3 * settleSeconds),
    })
  say('As many requests of strangers without a password to check…')
  const passers = await strangers('/no/such/route')
  await others(base, headers, settleSeconds)
  const traffic = await others(base, headers, seconds)
  passers.child.kill()
  say('Logins guessed at…')
  const { child } = await strangers('/auth/token')
  let busy: Latencies
  let counts: GuessCounts
  let elapsed: number
  let cpuBefore: ReturnType<typeof cpu>
  let cpuAfter: ReturnType<typeof cpu>
  try {
    await others(base, headers, settleSeconds)
    await requestFromChild<GuessCounts>(child, 'counts')
    const startedAt = performance.now()
    cpuBefore = cpu()
    busy = await others(base, headers, seconds)
    counts = await requestFromChild<GuessCounts>(child, 'counts')
    elapsed = (performance.now() - startedAt) / 1000
    cpuAfter = cpu()
  } finally {
    child.kill()
    await gateway.stop()
  }
  const guesses = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const rate = guesses / elapsed
  const cpuOf = (name: 'gateway' | 'settings') =>
    (cpuAfter[name] - cpuBefore[name] - (cpuQuiet[name] - cpuAtFirst[name])) / guesses
  const perGuess = { gateway: cpuOf('gateway'), settings: cpuOf('settings') }
  const kinds = Object.entries(counts).map(([status, count]) => `${count} × ${status}`)
  say(`  ${rate.toFixed(0)} guesses/s answered: ${kinds.join(', ')}`)
  return [
    {
      name: 'guessed logins answered',
      value: `${rate.toFixed(0)}/s`,
      goal: `≥ ${minGuesses}/s`,
      met: rate >= minGuesses,
    },
    {
      name: 'CPU per guessed login, at the gateway and in settings with its hashes',
      value: `${perGuess.gateway.toFixed(3)} ms + ${perGuess.settings.toFixed(3)} ms`,
      goal: '≤ 1 ms together',
      met: perGuess.gateway + perGuess.settings <= 1,
    },
    compareLatencies('GET /auth/me', quiet.me, traffic.me, busy.me),
    compareLatencies('POST /itsm/incidents', quiet.creates, traffic.creates, busy.creates),
  ]
}

function compareLatencies(name: string, quiet: number[], traffic: number[], busy: number[]): Figure {
  const [before, during] = [percentile(traffic, 0.99), percentile(busy, 0.99)]
  const both = (values: number[]) =>
    `p50 ${percentile(values, 0.5).toFixed(1)} ms, p99 ${percentile(values, 0.99).toFixed(1)} ms`
  return {
    name: `${name} while logins are guessed at`,
    value: both(busy),
    raw: `${both(traffic)} with requests without passwords; ${both(quiet)} without other requests`,
    ratio: during / before,
    goal: `p99 ≤ ${maxRatio} ×`,
    met: during <= maxRatio * before,
  }
}

/** Sends requests of signed-in users at an even rate; each must succeed. */
async function others(base: string, headers: Record<string, string>, seconds: number): Promise<Latencies> {
  const agent = new Agent({ connections: 256 })
  const latencies: Latencies = { me: [], creates: [] }
  const timed = async (path: string, body: string | null, into: number[]) => {
    const startedAt = performance.now()
    const answer = await request(`${base}${path}`, {
      method: body === null ? 'GET' : 'POST',
      headers: body === null ? headers : { ...headers, 'content-type': 'application/json' },
      body,
      dispatcher: agent,
    })
    await answer.body.dump()
    if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}`)
    into.push(performance.now() - startedAt)
  }
  await evenly({ rate: perSecond, seconds }, async () => {
    await Promise.all([
      timed('/auth/me', null, latencies.me),
      timed('/itsm/incidents', '{"title":"Meanwhile"}', latencies.creates),
    ])
  })
  await agent.close()
  return latencies
}
