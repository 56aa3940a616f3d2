import { eventAt, eventTypes } from './events.js'
import {
  buildId,
  eventAgeSeconds,
  findIndex,
  longText,
  pickAt,
  type Schemas,
  secondsAgo,
  unbroken,
} from './states.js'

const endpoints = [
  ['PagerDuty', 'https://events.pagerduty.example.com/v2/enqueue'],
  ['Billing sync', 'https://billing.acme.example.com/hooks/opsplane'],
  ['Slack #ops', 'https://hooks.slack.example.com/services/T01/B02/x9'],
  ['Data warehouse', 'https://ingest.acme.example.com/v1/events'],
  ['Status page', 'https://status.acme.example.com/api/incoming'],
] as const
export function webhookAt(index: number, isLong = false): Schemas['Webhook'] {
  const [name, url] = pickAt(endpoints, index)
  const isPaused = index % 5 === 4
  return {
    ...{ id: buildId('whk', index), name: isLong ? longText : name, version: 4 },
    ...{ url: isLong ? unbroken : url, environment: 'production', owner_id: buildId('usr', 0) },
    events: isLong ? eventTypes : ['incident.*', 'change.approved', 'record.*', 'request.*'],
    ...{ headers: {}, filter: null, has_secret: true, ordering_key: null, rate_limit_per_second: null },
    ...{ retries: 8, retry_strategy: 'exponential', retry_max_delay_ms: 3_600_000, retry_schedule: null },
    ...{ timeout_ms: 10_000, required_permissions: ['itsm:read'] },
    ...{ status: isPaused ? 'paused' : 'active', paused_reason: isPaused ? 'consecutive_failures' : null },
    consecutive_failures: index % 5 === 1 ? 37 : 0,
    ...{ created_at: secondsAgo(8_640_000 - index), updated_at: secondsAgo(86_400) },
  }
}

/** Deliveries to the billing endpoint fail; occasionally one to another endpoint waits for its next attempt. */
export function deliveryAt(index: number, isLong = false): Schemas['Delivery'] {
  const { id: webhookId, url } = webhookAt(index % endpoints.length, isLong)
  const isFailed = index % 5 === 1
  const isRetrying = index % 17 === 3
  const status = isFailed ? 'failed' : isRetrying ? 'retrying' : index === 0 ? 'pending' : 'succeeded'
  const attempts = status === 'pending' ? 0 : isFailed ? 4 : isRetrying ? 2 : 1
  return {
    ...{ id: buildId('del', index), webhookId, url, eventId: buildId('evt', index), status },
    eventType: isLong ? `${'very_long_resource_name.'.repeat(4)}created` : pickAt(eventTypes, index),
    ...{ attempts, createdAt: secondsAgo(eventAgeSeconds(index)), replayOf: null },
    ...lastOf(buildAttempts(index, attempts, isLong).at(-1)),
    nextAttemptAt: isRetrying ? secondsAgo(-240) : null,
  }
}

/** Fields of a delivery that describe its last attempt. */
const lastOf = (attempt: Schemas['DeliveryAttempt'] | undefined) => ({
  lastAttemptAt: attempt?.startedAt ?? null,
  lastDurationMs: attempt?.durationMs ?? null,
  lastResponseBody: attempt?.response?.body ?? null,
  lastResponseStatus: attempt?.response?.status ?? null,
  lastError: attempt?.error ?? null,
})

const bodyOf = (index: number, { eventId, eventType, createdAt }: Schemas['Delivery'], isLong: boolean) => {
  const { after } = eventAt(index, isLong).data
  return JSON.stringify({
    ...{ id: eventId, type: eventType, createdAt, workspace: 'acme' },
    data: { ...after, number: eventAt(index).resource.number },
  })
}

/** Times of the attempts, in seconds after the first one. */
const retryAfterSeconds = [0, 20, 60, 140] as const
const hasFailed = (index: number) => index % 5 === 1 || index % 17 === 3

/** The attempts that the delivery at this index has made. */
const buildAttempts = (index: number, count: number, isLong: boolean) =>
  Array.from({ length: count }, (_, attempt) => attemptAt(index, attempt, count, isLong))

function attemptAt(index: number, attempt: number, of: number, isLong: boolean): Schemas['DeliveryAttempt'] {
  const isTimeout = attempt === 0 && of > 1
  const isFailed = hasFailed(index)
  const failedBody = isLong
    ? `{"error":"${longText}","trace":"${'0123456789abcdef'.repeat(40)}"}`
    : '{"error":"upstream connect error or disconnect/reset before headers","reset_reason":"connection failure"}'
  const totalMs = isTimeout ? 10_004 : isFailed ? Math.max(1_204 - attempt * 90, 240) : 84 + (index % 40)
  const isReused = attempt > 0
  const after = retryAfterSeconds[attempt] ?? 140 + (attempt - 3) * 5
  const startedAt = secondsAgo(eventAgeSeconds(index) - 1 - after)
  return {
    ...{ number: attempt + 1, url: webhookAt(index % endpoints.length, isLong).url, startedAt },
    durationMs: totalMs,
    error: isTimeout
      ? { kind: 'timeout', message: 'The endpoint has not answered within 10 s.' }
      : isFailed
        ? { kind: 'status', message: 'The endpoint answered 503.' }
        : null,
    requestHeaders: {
      'content-type': 'application/json',
      'user-agent': 'Opsplane-Webhooks/1',
      'x-service-event': pickAt(eventTypes, index),
      'x-service-delivery': buildId('evt', index),
      'x-service-signature': `t=${Math.floor(Date.parse(startedAt) / 1_000)},v1=${'5d41402abc4b2a76b9719d911017c592'.repeat(2)}`,
    },
    response: isTimeout
      ? null
      : isFailed
        ? {
            ...{ status: 503, truncated: false, body: failedBody },
            headers: { 'content-type': 'application/json', server: 'envoy', 'retry-after': '30' },
          }
        : {
            ...{ status: 200, truncated: false, body: '{"received":true}' },
            headers: { 'content-type': 'application/json' },
          },
    ...{ dnsMs: isReused ? null : 6, connectMs: isReused ? null : 11, tlsMs: isReused ? null : 14 },
    ...{ firstByteMs: isTimeout ? null : totalMs - (isReused ? 24 : 55), totalMs },
    isConnectionReused: isReused,
  }
}

/** Details of a delivery from the list; a failed one has `maxAttempts` attempts. */
export function deliveryDetail(id: string, maxAttempts: number, isLong: boolean): Schemas['DeliveryDetail'] {
  const index = findIndex('del', id)
  const delivery = deliveryAt(index, isLong)
  const count = delivery.status === 'failed' ? maxAttempts : delivery.attempts
  const attemptLog = buildAttempts(index, count, isLong)
  const last = attemptLog.at(-1)
  const isReplayed = count > 1 && delivery.status === 'failed'
  return {
    ...{ ...delivery, ...lastOf(last), id, attempts: count, attemptLog, replayCount: isReplayed ? 1 : 0 },
    replays: isReplayed ? [{ id: buildId('del', 90_000), status: 'pending', createdAt: secondsAgo(30) }] : [],
    request: {
      ...{ method: 'POST', url: delivery.url, headers: last?.requestHeaders ?? {} },
      body: bodyOf(index, delivery, isLong),
    },
    response: last?.response ?? null,
  }
}

export const replayAt = (index: number): Schemas['ReplayJob'] => ({
  ...{
    id: buildId('rpl', index),
    webhookId: buildId('whk', 1),
    total: 214,
    replayed: index === 0 ? 96 : 214,
  },
  status: index === 0 ? 'running' : 'completed',
  filter: { eventType: null, from: secondsAgo(7_200), to: secondsAgo(600), status: ['failed'] },
  createdAt: secondsAgo(90 + index * 4_000),
  finishedAt: index === 0 ? null : secondsAgo(60 + index * 4_000),
})

const causes = [
  ['status', 'The endpoint answered 503.', 1, 214],
  ['timeout', 'The endpoint has not answered within 10 s.', 3, 38],
  ['tls', 'certificate has expired', 4, 6],
] as const
const runCauses = [
  ['connector_failed', 'Jira answered 401: the token has expired.', 'Escalate to vendor', 12],
  ['expression_failed', 'Step "total": there is no field "amount".', 'Nightly reconciliation', 1],
] as const

/** Groups of failures of one kind, by cause and target. */
export function buildFailures(kind: string, count: number, isLong: boolean): Schemas['FailureGroup'][] {
  return Array.from({ length: count }, (_, index) => {
    const [code, message, target, failed] =
      kind === 'deliveries' ? pickAt(causes, index) : pickAt(runCauses, kind === 'runs' ? index : index + 1)
    const name = typeof target === 'number' ? webhookAt(target).name : target
    const type = kind === 'deliveries' ? 'webhook' : kind === 'runs' ? 'workflow' : 'artifact'
    const id = typeof target === 'number' ? webhookAt(target).id : buildId('wfl', index)
    return {
      ...{ id: `${kind}-${index}`, count: failed, isMore: isLong, to: '1' },
      cause: { code: isLong ? 'thrown' : code, message: isLong ? longText : message },
      target: { id, name: isLong ? longText : name, type },
      ...{ firstAt: secondsAgo(5_400 + index * 900), lastAt: secondsAgo(159 + index * 1_900) },
    }
  })
}

/** A run of a workflow started by an event. */
export const runAt = (index: number, isLong = false): Schemas['Run'] => ({
  ...{ id: buildId('run', index), workflowId: buildId('wfl', index), workflowVersion: 4, version: 9 },
  workflowName: isLong ? longText : pickAt(['Escalate to vendor', 'Page the on-call'], index),
  ...{ triggerType: 'event', parentRunId: null, attempt: 1, error: null, allowedActions: [] },
  ...{ status: pickAt(['completed', 'failed', 'waiting'] as const, index), queuedAt: secondsAgo(51) },
  ...{ startedAt: secondsAgo(51), endedAt: index % 3 === 2 ? null : secondsAgo(49) },
})

/** An execution of a business rule triggered by an event. */
export const executionAt = (index: number, isLong = false): Schemas['Execution'] => ({
  ...{
    id: buildId('exec', index),
    artifact_slug: isLong ? longText : pickAt(['set_priority', 'notify_vip'], index),
  },
  ...{
    artifact_version: 3,
    environment: 'production',
    workspace_id: buildId('wsp', 0),
    trigger_type: 'webhook',
  },
  ...{ trigger_id: buildId('evt', 1), status: index === 1 ? 'failed' : 'completed', error: null, logs: [] },
  ...{ input: {}, output: null, memory_peak_mb: 12, duration_ms: 18 + index },
  ...{ started_at: secondsAgo(50), completed_at: secondsAgo(50) },
})
