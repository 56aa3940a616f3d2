import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { findTarget, listWaitingWebhooks } from '@opsplane/local/ops'
import { seriesNames } from '@opsplane/telemetry'
import { type Receiver, startReceiver, waitFor } from '@opsplane/testing'
import { request } from 'undici'
import { startOtlpReceiver } from './otlp-receiver.js'
import { type Api, apiClient, startTestCluster } from './platform.js'
import { type Scraped, scrape } from './scraped.js'
import { selectorsInUse } from './selectors.js'

let cluster: Awaited<ReturnType<typeof startTestCluster>>
let collector: Awaited<ReturnType<typeof startOtlpReceiver>>
let api: Api
let receiver: Receiver

beforeAll(async () => {
  collector = await startOtlpReceiver()
  cluster = await startTestCluster({
    metrics: true,
    extra: {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      // No requests are sampled randomly: only those that ask for it.
      OTEL_TRACES_SAMPLER_ARG: '0.0000001',
      LOG_LEVEL: 'debug',
    },
  })
  api = apiClient(cluster.info)
  receiver = await startReceiver({
    tls: { key: cluster.certificate.key, cert: cluster.certificate.cert },
    respond: ({ path }) =>
      path === '/dead' ? new Promise(() => {}) : { status: path === '/broken' ? 500 : 200 },
  })
})
afterAll(async () => {
  await receiver?.stop()
  await cluster?.stop()
  await collector?.stop()
})

interface Made {
  data: { id: string }
}
const urls = (): Record<string, string> => cluster.metricsUrls ?? {}
const at = (path: string) => receiver.received().filter((each) => each.path === path)

async function makeWebhook(name: string, settings: object): Promise<string> {
  const body = { name, url: `${receiver.url}/${name}`, events: ['incident.created'], ...settings }
  return (await api<Made>('POST', '/webhooks', { body })).body.data.id
}

async function makeWorkflow(): Promise<string> {
  const steps = [
    { id: 'say', type: 'publish', topic: 'measured', eventType: 'said', payload: { by: 'the run' } },
  ]
  const { body } = await api<Made>('POST', '/workflows', {
    body: { name: 'Measured', definition: { steps } },
  })
  const { id } = body.data
  expect((await api('POST', `/workflows/${id}/publish`, { body: { activate: true } })).status).toBe(200)
  return id
}

async function installPack(): Promise<void> {
  const source = `import { artifact } from '@opsplane/sdk'
    export default artifact(async ({ fail }: { fail?: boolean }) => { if (fail) throw new Error('no luck'); return 1 })`
  const manifest = {
    ...{ format: 'opsplane.pack/1', name: 'measured', version: '1.0.0' },
    artifacts: [{ slug: 'measured', kind: 'workflow_action', source: 'measured.ts' }],
  }
  const { status } = await api('POST', '/sdk/packs/install', {
    body: { manifest, files: { 'measured.ts': source } },
  })
  expect(status).toBe(201)
}

/**
 * Repeats the scrape until `check` passes on a single scrape; throwing counts as false. Each service counts work
 * a moment after it starts, and a value that is computed too slowly is missing in that scrape.
 */
const settled = (check: (now: Scraped) => unknown) =>
  waitFor(
    async () => {
      const now = await scrape(urls())
      return check(now) !== false && now
    },
    // Every scrape sends requests to ten services.
    { intervalMs: 750 },
  )

test('every series used by a rule or dashboard exists before the first request', async () => {
  const selectors = selectorsInUse()
  expect(selectors.length).toBeGreaterThan(50)
  await settled((now) => {
    const missing = selectors.filter((selector) => !now.has(selector))
    expect(missing.map(({ name, labels }) => `${name} ${Object.values(labels).join(' ')}`)).toEqual([])
  })
})

test('metrics count the requests, deliveries, runs and executions that occurred', async () => {
  await makeWebhook('well', {})
  await makeWebhook('broken', { retries: 1, retry_schedule: [1] })
  const workflow = await makeWorkflow()
  await installPack()
  const before = await settled((now) => now.sum('opsplane_relay_active') === 9)

  for (let n = 0; n < 3; n++) await api('POST', '/itsm/incidents', { body: { title: `Measured ${n}` } })
  expect((await api('POST', '/itsm/incidents', { body: { title: 7 } })).status).toBe(422)
  expect((await api('GET', '/itsm/incidents/inc_none')).status).toBe(404)
  expect((await api('GET', '/nowhere')).status).toBe(404)
  const run = await api<{ data: { status: string } }>('POST', `/workflows/${workflow}/trigger?wait=20`, {
    body: {},
  })
  expect(run.body.data.status).toBe('completed')
  for (const fail of [false, true])
    await api('POST', '/sdk/artifacts/measured/invoke', { body: { input: { fail } } })
  expect((await api('GET', '/events/topics/measured/events')).status).toBe(200)

  await settled((after) => {
    const grown = (name: string, labels?: Record<string, string>) =>
      after.sum(name, labels) - before.sum(name, labels)
    const requests = 'opsplane_http_requests_total'
    for (const service of ['gateway', 'itsm']) {
      const create = { service, operation: 'createIncident', method: 'POST' }
      expect(grown(requests, { ...create, status: '2xx' })).toBe(3)
      expect(grown(requests, { ...create, status: '4xx' })).toBe(1)
      expect(grown(requests, { service, operation: 'getIncident', method: 'GET', status: '4xx' })).toBe(1)
      const took = { service, operation: 'createIncident' }
      expect(grown('opsplane_http_request_duration_seconds_count', took)).toBe(4)
    }
    expect(grown(requests, { service: 'gateway', operation: 'none', status: '4xx' })).toBe(1)
    expect(grown(requests, { service: 'gateway', status: '5xx' })).toBe(0)

    expect(grown('opsplane_relay_published_total', { service: 'itsm' })).toBe(3)
    expect(grown('opsplane_delivery_attempts_total', { outcome: 'succeeded' })).toBe(at('/well').length)
    expect([at('/well').length, at('/broken').length]).toEqual([3, 6])
    expect(grown('opsplane_delivery_attempts_total', { outcome: 'retrying' })).toBe(3)
    expect(grown('opsplane_delivery_attempts_total', { outcome: 'failed' })).toBe(3)
    expect(grown('opsplane_delivery_attempts_total')).toBe(9)
    expect(grown('opsplane_delivery_attempt_duration_seconds_count')).toBe(9)
    expect(grown('opsplane_delivery_lag_seconds_count')).toBe(6)

    for (const status of ['queued', 'running', 'completed'])
      expect(grown('opsplane_run_transitions_total', { status })).toBe(1)
    expect(grown('opsplane_run_step_duration_seconds_count', { type: 'publish' })).toBe(1)
    expect(grown('opsplane_executions_total', { status: 'completed' })).toBe(1)
    expect(grown('opsplane_executions_total', { status: 'failed' })).toBe(1)
    expect(grown('opsplane_execution_duration_seconds_count')).toBe(2)
    expect(after.sum('opsplane_nats_connected')).toBe(10)
  })
})

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
const caller = '00f067aa0ba902b7'

/** A span and its ancestors, up to the caller's own. */
function lineage(spanId: string | undefined): { service: string; name: string }[] {
  if (spanId === caller) return []
  const span = collector.spans().find((each) => each.traceId === traceId && each.spanId === spanId)
  if (!span) throw new Error(`there is no span ${spanId}`)
  return [{ service: span.service, name: span.name }, ...lineage(span.parentSpanId)]
}

const otherTraceId = 'a'.repeat(32)

/** Causes work that is repeated, and work of other services: a retry, a run, and an execution. */
async function causeOtherTrace(): Promise<void> {
  const headers = { traceparent: `00-${otherTraceId}-${caller}-01` }
  const { body } = await api<Made>('POST', '/itsm/incidents', { body: { title: 'Again' }, headers })
  expect(body.data.id).toBeDefined()
  const [workflow] = (await api<{ data: { id: string }[] }>('GET', '/workflows')).body.data
  expect(
    (await api('POST', `/workflows/${workflow?.id}/trigger?wait=20`, { body: {}, headers })).status,
  ).toBe(202)
  await api('POST', '/sdk/artifacts/measured/invoke', { body: { input: {} }, headers })
}

const tracedDelivery = () => at('/well').find((each) => String(each.headers.traceparent).includes(traceId))

test('a traced request is delivered to the webhook with its trace id', async () => {
  await causeOtherTrace()
  const headers = { traceparent: `00-${traceId}-${caller}-01` }
  const created = await api('POST', '/itsm/incidents', { body: { title: 'Words of a tenant' }, headers })
  expect(created.status).toBe(201)
  await waitFor(() => tracedDelivery())
})

test('a waiting long-poll is counted until its client disconnects', async () => {
  const client = new AbortController()
  const { body } = await api<{ pagination: { nextCursor: string } }>('GET', '/events/topics/measured/events')
  const { baseUrl, apiKey, workspace } = cluster.info
  const poll = request(
    `${baseUrl}/events/topics/measured/events?timeout=20000&after=${body.pagination.nextCursor}`,
    {
      headers: { authorization: `Bearer ${apiKey}`, 'x-workspace': workspace },
      signal: client.signal,
    },
  ).catch(() => undefined)
  await settled((now) => now.sum('opsplane_topic_polls_waiting') === 1)
  client.abort()
  await poll
  await settled((now) => now.sum('opsplane_topic_polls_waiting') === 0)
})

test('services expose only series in the catalogue, and nothing at the gateway', async () => {
  const names = new Set(seriesNames())
  const { names: served } = await scrape(urls())
  expect([...served()].filter((name) => !names.has(name))).toEqual([])
  for (const path of ['/metrics', '/api/v1/metrics', '/api/v1/itsm/metrics'])
    expect((await fetch(`${cluster.info.origin}${path}`)).status).not.toBe(200)
})

test('no series names a tenant', async () => {
  const texts = await Promise.all(Object.values(urls()).map(async (url) => (await fetch(url)).text()))
  expect(texts.join('\n')).not.toMatch(/ws_|inc_|wh_|run_0|usr_|main/)
})

test('every series of the catalogue is exposed, and no value fails to be collected', async () => {
  // A real failure occurs in every scrape; a value that was only late on a busy machine is present in the next one.
  const failures = 'opsplane_metrics_failures_total'
  let before = Number.NaN
  await settled((now) => {
    const failed = now.sum(failures) - before
    before = now.sum(failures)
    expect(failed).toBe(0)
    expect(seriesNames().filter((name) => !now.names().has(name))).toEqual([])
  })
})

test('deliveries waiting for a dead endpoint count as the queue of its webhook, not as a delay of the platform', async () => {
  const dead = await makeWebhook('dead', { timeout_ms: 30_000 })
  for (let n = 0; n < 80; n++) await api('POST', '/itsm/incidents', { body: { title: `Dead ${n}` } })
  await settled((now) => {
    expect(now.sum('opsplane_webhook_queue_age_seconds')).toBeGreaterThan(0)
    expect(now.sum('opsplane_deliveries_due')).toBe(0)
  })
  const target = findTarget({ databaseUrl: cluster.info.postgresUrl, home: cluster.folder }, {})
  // Another webhook, which is paused, has been waiting for longer.
  const found = (await listWaitingWebhooks(target, 10)).find(({ id }) => id === dead)
  expect(found).toMatchObject({ name: 'dead', host: '127.0.0.1', status: 'active' })
  expect(found?.waiting).toBeGreaterThan(50)
  expect((await api('DELETE', `/webhooks/${dead}`)).status).toBe(204)
})

test('unpublished events are counted while NATS is unavailable, and published once it is back', async () => {
  const itsm = { service: 'itsm' }
  const before = await scrape(urls())
  await cluster.nats.stop()
  await settled((now) => now.sum('opsplane_nats_connected') === 0)
  for (let n = 0; n < 2; n++)
    expect((await api('POST', '/itsm/incidents', { body: { title: `Waits ${n}` } })).status).toBe(201)
  await settled((away) => {
    expect(away.sum('opsplane_outbox_events', itsm)).toBe(2)
    expect(away.sum('opsplane_outbox_oldest_age_seconds', itsm)).toBeGreaterThan(0)
    expect(away.sum('opsplane_relay_active', itsm)).toBe(0)
  })
  await cluster.nats.start()
  const name = 'opsplane_relay_published_total'
  await settled((back) => {
    expect(back.sum('opsplane_outbox_events', itsm)).toBe(0)
    expect(back.sum('opsplane_nats_connected')).toBe(10)
    expect(back.sum(name, itsm) - before.sum(name, itsm)).toBe(2)
    expect(back.sum('opsplane_nats_reconnects_total')).toBeGreaterThanOrEqual(10)
  })
})

// Last, because spans are sent every twenty seconds.
test('one trace leads from the request to the webhook, and contains no tenant data', async () => {
  const attempt = String(tracedDelivery()?.headers.traceparent).split('-')[2]
  const expected = [
    { service: 'dispatcher', name: 'deliver' },
    { service: 'dispatcher', name: 'dispatcher-delivery-fanout' },
    { service: 'itsm', name: 'publish' },
    { service: 'itsm', name: 'createIncident' },
    { service: 'gateway', name: 'createIncident' },
  ]
  // Each service sends its spans separately, some seconds later.
  await waitFor(() => {
    expect(lineage(attempt)).toEqual(expected)
    const names = collector.spans().filter((span) => span.traceId === traceId && span.service === 'itsm')
    expect(names.map(({ name }) => name)).toContain('append events')
    return true
  })
  const asked = [traceId, otherTraceId]
  expect(collector.spans().filter((span) => !asked.includes(span.traceId))).toEqual([])
  expect(collector.text()).not.toMatch(/Words of a tenant|\/itsm\/|inc_|ws_/)
  const log = readFileSync(join(cluster.folder, 'itsm.log'), 'utf8')
  expect(log.split('\n').filter((line) => line.includes(`"trace_id":"${traceId}"`))).not.toEqual([])
})

test('a retry, a run and an execution belong to the trace of the request that caused them', async () => {
  const retries = () =>
    at('/broken').filter((each) => String(each.headers.traceparent).includes(otherTraceId))
  await waitFor(() => retries().length === 2)
  await waitFor(() =>
    ['step publish', 'execution'].every((name) =>
      collector.spans().some((span) => span.traceId === otherTraceId && span.name === name),
    ),
  )
})
