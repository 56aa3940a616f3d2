import autocannon from 'autocannon'
import { Agent, request } from 'undici'

const body = JSON.stringify({ title: 'Checkout answers 500 for one customer in ten' })

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

/** Creates incidents as fast as the answers come, over keep-alive connections. */
export async function createIncidents(options: LoadOptions): Promise<LoadResult> {
  const result = await autocannon({
    url: options.url,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...options.headers },
    body,
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

/**
 * Creates incidents at an even rate, whether or not answers come: a load of independent clients. autocannon's own
 * rate limit sends each second's share at once, which measures bursts.
 */
export async function createIncidentsEvenly(
  options: LoadOptions & {
    rate: number
    /** The nth incident's title; all have the same one otherwise. */
    titleOf?(n: number): string
  },
): Promise<void> {
  const agent = new Agent({ connections: options.connections })
  const headers = { 'content-type': 'application/json', ...options.headers }
  const underway = new Set<Promise<void>>()
  const bodyOf = (n: number) => (options.titleOf ? JSON.stringify({ title: options.titleOf(n) }) : body)
  const send = async (n: number) => {
    const response = await request(options.url, {
      method: 'POST',
      headers,
      body: bodyOf(n),
      dispatcher: agent,
    })
    await response.body.dump()
    if (response.statusCode !== 201) throw new Error(`an incident create answered ${response.statusCode}`)
  }
  const startedAt = performance.now()
  const total = Math.floor(options.rate * options.seconds)
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - startedAt) / 1000) * options.rate))
    for (; sent < due; sent++) {
      const sending = send(sent).finally(() => underway.delete(sending))
      underway.add(sending)
    }
    await new Promise((resolve) => setTimeout(resolve, 2))
  }
  await Promise.all(underway)
  await agent.close()
}
