import type { Metrics } from '@opsplane/telemetry'

/** Records the status and duration of a response. */
export type RequestRecorder = (status: number, durationMs: number) => void

/** Stands for requests that match no operation, such as an unknown path. */
export const noOperation = { operationId: 'none', waits: false }

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** The operation, and whether its response may take long. */
interface RecordedOperation {
  operationId: string
  waits: boolean
}

export type RecorderFor = (operation: RecordedOperation, method: string) => RequestRecorder | undefined

/** Returns a recorder per operation and method. Both come from the contracts, so clients cannot create new label values. */
export function requestRecorders(metrics: Metrics): RecorderFor {
  const recorders = new Map<string, RequestRecorder>()
  if (metrics.enabled) beginAtZero(metrics)
  return (operation, method) => {
    if (!metrics.enabled) return undefined
    const known = methods.has(method) ? method : 'other'
    const key = `${known} ${operation.operationId}`
    const recorder = recorders.get(key) ?? recorderOf(metrics, operation, known)
    recorders.set(key, recorder)
    return recorder
  }
}

/**
 * Creates the series of each status class before the first request: a series that starts
 * with an error would show no increase.
 */
function beginAtZero(metrics: Metrics): void {
  const { operationId: operation } = noOperation
  for (const status of ['2xx', '3xx', '4xx', '5xx'])
    metrics.counter('opsplane_http_requests_total', { operation, method: 'GET', status })
  for (const waits of ['false', 'true'])
    metrics.histogram('opsplane_http_request_duration_seconds', { operation, waits })
}

function recorderOf(
  metrics: Metrics,
  { operationId: operation, waits }: RecordedOperation,
  method: string,
): RequestRecorder {
  const observeDuration = metrics.histogram('opsplane_http_request_duration_seconds', {
    operation,
    waits: String(waits),
  })
  const counts = new Map<number, () => void>()
  return (status, durationMs) => {
    const group = Math.floor(status / 100)
    const count =
      counts.get(group) ??
      metrics.counter('opsplane_http_requests_total', { operation, method, status: `${group}xx` })
    counts.set(group, count)
    count()
    observeDuration(durationMs / 1_000)
  }
}
