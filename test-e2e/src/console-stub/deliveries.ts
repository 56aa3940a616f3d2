import { buildId, longText, pickAt, type Schemas, secondsAgo, unbroken } from './states.js'

const endpoints = [
  ['PagerDuty', 'https://events.pagerduty.example.com/v2/enqueue'],
  ['Billing sync', 'https://billing.acme.example.com/hooks/opsplane'],
  ['Slack #ops', 'https://hooks.slack.example.com/services/T01/B02/x9'],
  ['Data warehouse', 'https://ingest.acme.example.com/v1/events'],
  ['Status page', 'https://status.acme.example.com/api/incoming'],
] as const
const eventTypes = [
  ...['incident.created', 'incident.updated', 'incident.resolved', 'record.created', 'change.approved'],
  ...['workflow.published', 'request.submitted'],
]

export function webhookAt(index: number, isLong = false): Schemas['Webhook'] {
  const [name, url] = pickAt(endpoints, index)
  const isPaused = index % 5 === 4
  return {
    ...{ id: buildId('whk', index), name: isLong ? longText : name, version: 4 },
    ...{ url: isLong ? unbroken : url, environment: 'production', owner_id: buildId('usr', 0) },
    events: isLong ? eventTypes : ['incident.*', 'change.approved'],
    ...{ headers: {}, filter: null, has_secret: true, ordering_key: null, rate_limit_per_second: null },
    ...{ retries: 8, retry_strategy: 'exponential', retry_max_delay_ms: 3_600_000, retry_schedule: null },
    ...{ timeout_ms: 10_000, required_permissions: ['itsm:read'] },
    ...{ status: isPaused ? 'paused' : 'active', paused_reason: isPaused ? 'consecutive_failures' : null },
    consecutive_failures: index % 5 === 1 ? 37 : 0,
    ...{ created_at: secondsAgo(8_640_000 - index), updated_at: secondsAgo(86_400) },
  }
}

/** Those of the endpoint for billing fail, one of others now and then waits for its next attempt. */
export function deliveryAt(index: number, isLong = false): Schemas['Delivery'] {
  const { id: webhookId, url } = webhookAt(index % endpoints.length, isLong)
  const isFailed = index % 5 === 1
  const isRetrying = index % 17 === 3
  const status = isFailed ? 'failed' : isRetrying ? 'retrying' : index === 0 ? 'pending' : 'succeeded'
  const hasFailed = isFailed || isRetrying
  return {
    ...{ id: buildId('del', index), webhookId, url, eventId: buildId('evt', index), status },
    eventType: isLong ? `${'very_long_resource_name.'.repeat(4)}created` : pickAt(eventTypes, index),
    attempts: status === 'pending' ? 0 : isFailed ? 4 : isRetrying ? 2 : 1,
    ...{ createdAt: secondsAgo(20 + index * 47), replayOf: null },
    lastAttemptAt: status === 'pending' ? null : secondsAgo(10 + index * 47),
    lastDurationMs: status === 'pending' ? null : hasFailed ? 1_204 : 84 + (index % 40),
    lastResponseBody: hasFailed ? '{"error":"upstream connect error"}' : null,
    lastResponseStatus: status === 'pending' ? null : hasFailed ? 503 : 200,
    lastError: hasFailed ? { kind: 'status', message: 'The endpoint answered 503.' } : null,
    nextAttemptAt: isRetrying ? new Date(Date.now() + 240_000).toISOString() : null,
  }
}

const bodyOf = (eventId: string, isLong: boolean) =>
  JSON.stringify({
    ...{ id: eventId, type: 'incident.created', createdAt: secondsAgo(400), workspace: 'acme' },
    data: {
      ...{
        id: buildId('inc', 3),
        number: 'INC-2047',
        title: isLong ? longText : 'Checkout returns 502 for EU',
      },
      ...{ severity: 'critical', status: 'open', team: 'payments', labels: ['eu', 'checkout'], version: 1 },
    },
  })

function attemptAt(index: number, of: number, isLong: boolean): Schemas['DeliveryAttempt'] {
  const isTimeout = index === 0 && of > 1
  const body = isLong
    ? `{"error":"${longText}","trace":"${'0123456789abcdef'.repeat(40)}"}`
    : '{"error":"upstream connect error or disconnect/reset before headers","reset_reason":"connection failure"}'
  return {
    ...{ number: index + 1, url: webhookAt(1, isLong).url, startedAt: secondsAgo(400 - index * 60) },
    durationMs: isTimeout ? 10_004 : 1_204 - index * 90,
    error: isTimeout
      ? { kind: 'timeout', message: 'The endpoint has not answered within 10 s.' }
      : { kind: 'status', message: 'The endpoint answered 503.' },
    requestHeaders: {
      'content-type': 'application/json',
      'user-agent': 'Opsplane-Webhooks/1',
      'x-service-event': 'incident.created',
      'x-service-delivery': buildId('evt', 1),
      'x-service-signature': `t=1764379200,v1=${'5d41402abc4b2a76b9719d911017c592'.repeat(2)}`,
    },
    response: isTimeout
      ? null
      : {
          ...{ status: 503, truncated: false, body },
          headers: { 'content-type': 'application/json', server: 'envoy', 'retry-after': '30' },
        },
    ...{ dnsMs: index === 0 ? 12 : null, connectMs: index === 0 ? 31 : null, tlsMs: index === 0 ? 44 : null },
    ...{
      firstByteMs: isTimeout ? null : 1_180 - index * 90,
      totalMs: isTimeout ? 10_003 : 1_203 - index * 90,
    },
    isConnectionReused: index > 0,
  }
}

export function deliveryDetail(id: string, attempts: number, isLong: boolean): Schemas['DeliveryDetail'] {
  const delivery = deliveryAt(1, isLong)
  const log = Array.from({ length: attempts }, (_, index) => attemptAt(index, attempts, isLong))
  const last = log.at(-1)
  return {
    ...delivery,
    eventType: isLong ? delivery.eventType : 'incident.created',
    ...{ id, attempts, attemptLog: log, replayCount: attempts > 1 ? 1 : 0 },
    replays: attempts > 1 ? [{ id: buildId('del', 900), status: 'pending', createdAt: secondsAgo(30) }] : [],
    request: {
      ...{ method: 'POST', url: delivery.url, headers: last?.requestHeaders ?? {} },
      body: bodyOf(delivery.eventId, isLong),
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

/** Failures of a kind by cause and target. */
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
      ...{ firstAt: secondsAgo(5_400 + index * 900), lastAt: secondsAgo(24 + index * 1_900) },
    }
  })
}

/** A business rule that has run on an event. */
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
