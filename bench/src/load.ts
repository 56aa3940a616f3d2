import autocannon from 'autocannon'
import { Agent, request } from 'undici'

const incident = JSON.stringify({ title: 'Checkout answers 500 for one customer in ten' })

export interface LoadOptions {
  url: string
  headers?: Record<string, string>
  seconds: number
  connections: number
}

export interface LoadResult {
  perSecond: number
  requests: number
  failures: number
  p50Ms: number
  p99Ms: number
}

/** Creates incidents as fast as responses arrive, over keep-alive connections. */
export function createIncidents(options: LoadOptions): Promise<LoadResult> {
  return post({ ...options, body: incident })
}

/** Posts the same body as fast as responses arrive, over keep-alive connections. */
export async function post(options: LoadOptions & { body: string }): Promise<LoadResult> {
  const result = await autocannon({
    url: options.url,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...options.headers },
    body: options.body,
    duration: options.seconds,
    connections: options.connections,
  })
  return {
    perSecond: result['2xx'] / result.duration,
    requests: result['2xx'],
    failures: result.non2xx + result.errors,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  }
}

/** Creates incidents at an even rate, independent of the responses: a load of independent clients. */
export async function createIncidentsEvenly(
  options: LoadOptions & {
    rate: number
    /** Headers that differ from request to request. */
    login?(): Promise<Record<string, string>>
    /** Title of the nth incident; all incidents have the same title otherwise. */
    titleOf?(n: number): string
  },
): Promise<void> {
  const agent = new Agent({ connections: options.connections })
  const headers = { 'content-type': 'application/json', ...options.headers }
  const bodyOf = (n: number) => (options.titleOf ? JSON.stringify({ title: options.titleOf(n) }) : incident)
  await evenly(options, async (n) => {
    const response = await request(options.url, {
      method: 'POST',
      headers: { ...headers, ...(await options.login?.()) },
      body: bodyOf(n),
      dispatcher: agent,
    })
    await response.body.dump()
    if (response.statusCode !== 201) throw new Error(`an incident create answered ${response.statusCode}`)
  })
  await agent.close()
}

/**
 * Calls `send` at an even rate, independent of the responses, and returns the number of calls. autocannon's own rate
 * limit sends each second's share as one burst, which would measure bursts.
 */
export async function evenly(
  { rate, seconds }: { rate: number; seconds: number },
  send: (n: number) => Promise<void>,
): Promise<number> {
  const underway = new Set<Promise<void>>()
  const startedAt = performance.now()
  const total = Math.floor(rate * seconds)
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * rate))
    for (; sent < due; sent++) {
      const sending = send(sent).finally(() => underway.delete(sending))
      underway.add(sending)
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await Promise.all(underway)
  return total
}

export const median = (values: number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

/**
 * Creates incidents as fast as responses arrive; each client sends to one target after the other, every second
 * client in reverse order. Resolves with the number of incidents at each target, which is the same for all.
 */
export async function createIncidentsByTurns({
  targets,
  seconds,
  connections,
}: {
  targets: readonly Pick<LoadOptions, 'url' | 'headers'>[]
  seconds: number
  connections: number
}): Promise<number> {
  const agent = new Agent({ connections })
  const until = performance.now() + seconds * 1_000
  let turns = 0
  const client = async (order: typeof targets) => {
    while (performance.now() < until) {
      for (const { url, headers } of order) {
        const sent = { 'content-type': 'application/json', ...headers }
        const response = await request(url, {
          method: 'POST',
          headers: sent,
          body: incident,
          dispatcher: agent,
        })
        await response.body.dump()
        if (response.statusCode !== 201) throw new Error(`an incident create answered ${response.statusCode}`)
      }
      turns++
    }
  }
  const reversed = targets.toReversed()
  await Promise.all(Array.from({ length: connections }, (_, at) => client(at % 2 === 0 ? targets : reversed)))
  await agent.close()
  return turns
}
