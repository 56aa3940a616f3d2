import { ApiError } from '@opsplane/contracts'
import { type Logger, retryAfterMs } from '@opsplane/runtime'
import { decideAfterAttempt } from '../domain.js'
import type { EndpointHealth } from '../enqueue/delivery-queues.js'
import type { DeliveryJob } from '../job.js'
import type { AttemptRecord, AttemptResult } from '../send/attempt.js'
import type { AttemptRecording } from './record-results.js'
import type { ResultRow } from './record-statement.js'

/** Milliseconds by which an attempt is postponed if it needs the settings service and that is unavailable. */
const postponeMs = 5_000
const bodyStartBytes = 16 * 1024

export interface ResultOptions {
  log: Logger
  jitter: number
  random(): number
  /** When aborted, deliveries that this process has not sent are due immediately for another one. */
  stopping: AbortSignal
}

/** The recording of an attempt, and the health of its endpoint. */
export interface SentAttempt extends AttemptRecording {
  health: EndpointHealth
}

/** Builds the recording of an attempt: its data and the next state of its delivery. */
export function buildResult(
  job: DeliveryJob,
  result: AttemptResult,
  { log, jitter, random, stopping }: ResultOptions,
): SentAttempt {
  const of = { target: job.target, eventId: job.content.id, health: toEndpointHealth(result) }
  const number = job.attempts + 1
  if (result.kind === 'postponed') {
    const windowMs = parseBudgetWaitMs(result.reason)
    if (!stopping.aborted)
      log[windowMs === undefined ? 'warn' : 'debug'](
        { err: result.reason, deliveryId: job.deliveryId },
        'delivery attempt postponed: its secrets or its budget are not available yet',
      )
    const due = stopping.aborted ? 0 : (windowMs ?? postponeMs)
    const row = rowOf(job, number, nothingSent(job))
    return { ...of, row: { ...row, status: 'postponed', due_in_ms: due }, gone: false }
  }
  const verdict = decideAfterAttempt(result.outcome, job.target, number - job.cycleBase, {
    jitter,
    random: random(),
  })
  const due = verdict.status === 'retrying' ? Math.round(verdict.delayMs) : null
  const row = { ...rowOf(job, number, result.record), status: verdict.status, due_in_ms: due }
  return { ...of, row, gone: verdict.status === 'failed' && verdict.gone }
}

/** An attempt over a budget waits for the workspace's next minute; that is not an error. */
function parseBudgetWaitMs(reason: unknown): number | undefined {
  if (!(reason instanceof ApiError) || reason.code !== 'rate_limited') return undefined
  return retryAfterMs(reason.headers['Retry-After'], 0)
}

export function toEndpointHealth(result: AttemptResult): EndpointHealth {
  if (result.kind === 'postponed') return 'busy'
  if (result.outcome.kind === 'failed') return 'unhealthy'
  return result.outcome.status === 429 || result.outcome.status === 503 ? 'busy' : 'healthy'
}

const nothingSent = ({ target: { url } }: DeliveryJob): AttemptRecord => ({
  startedAt: '',
  durationMs: 0,
  url,
  requestHeaders: {},
  response: null,
  error: null,
  timings: null,
})

function rowOf(
  { deliveryId, target: { epoch } }: DeliveryJob,
  number: number,
  { startedAt, durationMs, url, requestHeaders, response, error, timings }: AttemptRecord,
): Omit<ResultRow, 'seq' | 'status' | 'due_in_ms'> {
  return {
    ...{ id: deliveryId, number, epoch },
    started_at: startedAt,
    url,
    duration_ms: durationMs,
    request_headers: requestHeaders,
    response_status: response?.status ?? null,
    response_headers: response?.headers ?? null,
    response_body: response?.body ?? null,
    body_start: response && startOf(response.body),
    response_truncated: response?.truncated ?? null,
    error_kind: error?.kind ?? null,
    error_message: error?.message ?? null,
    dns_ms: timings?.dnsMs ?? null,
    connect_ms: timings?.connectMs ?? null,
    tls_ms: timings?.tlsMs ?? null,
    first_byte_ms: timings?.firstByteMs ?? null,
    total_ms: timings?.totalMs ?? null,
    is_connection_reused: timings?.isConnectionReused ?? null,
  }
}

/** Cut in bytes: a cut inside a surrogate pair would be text that Postgres rejects. */
function startOf(body: string): string {
  const bytes = Buffer.from(body)
  return bytes.length > bodyStartBytes ? bytes.subarray(0, bodyStartBytes).toString() : body
}
