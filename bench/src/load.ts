import autocannon from 'autocannon'

export interface LoadOptions {
  url: string
  headers?: Record<string, string>
  seconds: number
  connections: number
  /** Requests per second over all connections; as many as possible when absent. */
  rate?: number
}

export interface LoadResult {
  perSecond: number
  requests: number
  failures: number
  p50Ms: number
  p99Ms: number
}

/** Creates incidents over keep-alive connections for some seconds. */
export async function createIncidents(options: LoadOptions): Promise<LoadResult> {
  const result = await autocannon({
    url: options.url,
    method: 'POST',
    headers: { 'content-type': 'application/json', ...options.headers },
    body: JSON.stringify({ title: 'Checkout answers 500 for one customer in ten' }),
    duration: options.seconds,
    connections: options.connections,
    ...(options.rate ? { overallRate: options.rate } : {}),
  })
  return {
    perSecond: result['2xx'] / result.duration,
    requests: result['2xx'],
    failures: result.non2xx + result.errors,
    p50Ms: result.latency.p50,
    p99Ms: result.latency.p99,
  }
}
