import { Agent, request } from 'undici'
import { percentile } from './child.js'
import type { MeasureOptions } from './creates.js'
import { incidents } from './creates.js'
import { evenly } from './load.js'
import type { Figure } from './report.js'

/** What people do meanwhile, each per second. */
const perSecond = 50
const guessConnections = 64
const wantedGuesses = 1_000
const wantedRatio = 2
/** Guesses come from so many addresses, for so many accounts. */
const addresses = 400
const accounts = 200

interface Latencies {
  me: number[]
  creates: number[]
}

/** Guesses at passwords as fast as they are answered, and how long other requests take without and with them. */
export async function measureLoginFlood({ cluster, seconds, say }: MeasureOptions): Promise<Figure[]> {
  // The gateway of the figure believes X-Forwarded-For, so that the guesses come from many addresses.
  const gateway = await cluster.replica('gateway', {
    TRUST_PROXY_CIDRS: '127.0.0.0/8',
    ANONYMOUS_RATE_LIMIT_PER_MINUTE: '0',
  })
  const base = `${gateway.url}/api/v1`
  const { headers } = incidents(cluster)
  const email = cluster.secrets.owner.email

  say('Logins guessed at, warming up…')
  await others(base, headers, 2)
  const quiet = await others(base, headers, seconds)
  const flood = startFlood(base, email)
  let busy: Latencies
  try {
    await others(base, headers, 2)
    flood.reset()
    busy = await others(base, headers, seconds)
  } finally {
    await flood.stop()
    await gateway.stop()
  }
  const rate = flood.answered() / seconds
  say(`  ${rate.toFixed(0)} guesses/s answered: ${flood.summary()}`)
  return [
    {
      name: 'guessed logins answered',
      value: `${rate.toFixed(0)}/s`,
      goal: `≥ ${wantedGuesses}/s`,
      met: rate >= wantedGuesses,
    },
    beside('GET /auth/me', quiet.me, busy.me),
    beside('POST /itsm/incidents', quiet.creates, busy.creates),
  ]
}

function beside(name: string, quiet: number[], busy: number[]): Figure {
  const [before, during] = [percentile(quiet, 0.99), percentile(busy, 0.99)]
  const both = (values: number[]) =>
    `p50 ${percentile(values, 0.5).toFixed(1)} ms, p99 ${percentile(values, 0.99).toFixed(1)} ms`
  return {
    name: `${name} while logins are guessed at`,
    value: both(busy),
    raw: `${both(quiet)} without`,
    ratio: during / before,
    goal: `p99 ≤ ${wantedRatio} ×`,
    met: during <= wantedRatio * before,
  }
}

/** What people who are logged in do, at an even rate; each must succeed. */
async function others(base: string, headers: Record<string, string>, seconds: number): Promise<Latencies> {
  const agent = new Agent({ connections: 32 })
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

function startFlood(base: string, email: string) {
  const agent = new Agent({ connections: guessConnections })
  const counts = new Map<number, number>()
  let guessing = true
  let sent = 0

  const guess = async () => {
    while (guessing) {
      const n = sent++
      const login = n % 4 === 0 ? email : `guessed${n % accounts}@example.com`
      const answer = await request(`${base}/auth/token`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'x-forwarded-for': `198.51.${n % 2}.${Math.floor(n / 2) % (addresses / 2)}`,
        },
        body: JSON.stringify({ email: login, password: `guess ${n}` }),
        dispatcher: agent,
      })
      await answer.body.dump()
      counts.set(answer.statusCode, (counts.get(answer.statusCode) ?? 0) + 1)
    }
  }
  const working = Promise.all(Array.from({ length: guessConnections }, guess))
  return {
    answered: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
    summary: () => [...counts].map(([status, count]) => `${count} × ${status}`).join(', '),
    reset: () => counts.clear(),
    async stop() {
      guessing = false
      await working
      await agent.close()
    },
  }
}
