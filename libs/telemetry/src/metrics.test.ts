import { getHeapStatistics } from 'node:v8'
import { afterEach, describe, expect, test } from '@jest/globals'
import { createMetrics } from './metrics.js'
import { printSamples } from './print-samples.js'
import type { Sample } from './sample.js'
import { type MetricsServer, serveMetrics } from './serve-metrics.js'

const seriesOf = async (text: Promise<string>, name: string) =>
  (await text).split('\n').filter((line) => line.startsWith(`${name}{`) || line.startsWith(`${name} `))

describe('metrics gathered at a scrape', () => {
  const pending = (value: number): Sample[] => [
    { name: 'opsplane_consumer_pending', labels: { durable: 'a' }, value },
  ]

  test('have their current values, and disappear when their source omits them', async () => {
    const metrics = createMetrics({ service: 'desk' })
    const answers = [pending(3), pending(1), []]
    metrics.gather(() => answers.shift() ?? [])
    const name = 'opsplane_consumer_pending'
    expect(await seriesOf(metrics.text(), name)).toEqual([`${name}{durable="a",service="desk"} 3`])
    expect(await seriesOf(metrics.text(), name)).toEqual([`${name}{durable="a",service="desk"} 1`])
    expect(await seriesOf(metrics.text(), name)).toEqual([])
  })

  test('are missing if their source fails, which is counted; metrics of other sources are present', async () => {
    const metrics = createMetrics({ service: 'desk' })
    metrics.gather(async () => {
      throw new Error('away')
    })
    metrics.gather(() => pending(2))
    const text = metrics.text()
    expect(await seriesOf(text, 'opsplane_consumer_pending')).toHaveLength(1)
    expect(await seriesOf(metrics.text(), 'opsplane_metrics_failures_total')).toEqual([
      'opsplane_metrics_failures_total{service="desk"} 2',
    ])
  })

  test('are missing instead of zero if their source fails', async () => {
    const metrics = createMetrics({ service: 'desk' })
    const answers: Sample[][] = [[{ name: 'opsplane_outbox_events', value: 7 }]]
    metrics.gather(() => answers.shift() ?? Promise.reject(new Error('away')))
    expect(await seriesOf(metrics.text(), 'opsplane_outbox_events')).toEqual([
      'opsplane_outbox_events{service="desk"} 7',
    ])
    expect(await seriesOf(metrics.text(), 'opsplane_outbox_events')).toEqual([])
  })

  test('are gathered once for concurrent scrapes, and at most once per interval', async () => {
    const metrics = createMetrics({ service: 'desk' })
    let [often, seldom] = [0, 0]
    metrics.gather(async () => pending(++often))
    metrics.gather(async () => pending(++seldom), 3_600_000)
    await Promise.all([metrics.text(), metrics.text()])
    await metrics.text()
    expect([often, seldom]).toEqual([2, 1])
  })

  test('are gathered again by the next scrape after a failure, regardless of the interval', async () => {
    const metrics = createMetrics({ service: 'desk' })
    const answers = [Promise.reject(new Error('away')), pending(4), pending(5)]
    metrics.gather(async () => answers.shift() ?? [], 3_600_000)
    const name = 'opsplane_consumer_pending'
    expect(await seriesOf(metrics.text(), name)).toEqual([])
    const found = [`${name}{durable="a",service="desk"} 4`]
    expect(await seriesOf(metrics.text(), name)).toEqual(found)
    expect(await seriesOf(metrics.text(), name)).toEqual(found)
  })

  test('are summed if several samples have the same labels', async () => {
    const metrics = createMetrics({ service: 'desk' })
    metrics.gather(() => [...pending(2), ...pending(5)])
    expect(await seriesOf(metrics.text(), 'opsplane_consumer_pending')).toEqual([
      'opsplane_consumer_pending{durable="a",service="desk"} 7',
    ])
  })
})

describe('recorded metrics', () => {
  test('count from 0, separately for each set of labels', async () => {
    const metrics = createMetrics({ service: 'desk' })
    const completed = metrics.counter('opsplane_executions_total', { status: 'completed' })
    metrics.counter('opsplane_executions_total', { status: 'failed' })
    completed()
    completed()
    expect(await seriesOf(metrics.text(), 'opsplane_executions_total')).toEqual([
      'opsplane_executions_total{status="completed",service="desk"} 2',
      'opsplane_executions_total{status="failed",service="desk"} 0',
    ])
  })

  test('fill histogram buckets up to each bound inclusively, with sum and count', async () => {
    const metrics = createMetrics({ service: 'desk' })
    const http = metrics.histogram('opsplane_run_step_duration_seconds', { type: 'http' })
    metrics.histogram('opsplane_run_step_duration_seconds', { type: 'wait' })(0.25)
    for (const seconds of [0.001, 0.02, 0.021, 599, 10_000]) http(seconds)
    const text = await metrics.text()
    expect(text.match(/^# TYPE opsplane_run_step_duration_seconds histogram$/gm)).toHaveLength(1)
    const lines = text.split('\n').filter((line) => line.includes('type="http"'))
    expect(lines).toEqual([
      ...['0.005 1', '0.02 2', '0.1 3', '0.5 3', '2 3', '10 3', '60 3', '600 4', '+Inf 5'].map((each) => {
        const [le, count] = each.split(' ')
        return `opsplane_run_step_duration_seconds_bucket{le="${le}",type="http",service="desk"} ${count}`
      }),
      'opsplane_run_step_duration_seconds_sum{type="http",service="desk"} 10599.042',
      'opsplane_run_step_duration_seconds_count{type="http",service="desk"} 5',
    ])
    expect(text).toContain('opsplane_run_step_duration_seconds_count{type="wait",service="desk"} 1')
  })
})

test('process metrics match the values that Node reports', async () => {
  const text = await createMetrics({ service: 'desk' }).text()
  const figure = (name: string) =>
    Number(new RegExp(`^${name}\\{service="desk"\\} (\\S+)$`, 'm').exec(text)?.[1])
  const { user, system } = process.cpuUsage()
  expect(figure('process_cpu_seconds_total')).toBeGreaterThan(0)
  expect(figure('process_cpu_seconds_total')).toBeLessThanOrEqual((user + system) / 1e6)
  expect(figure('process_start_time_seconds')).toBeCloseTo((Date.now() - process.uptime() * 1_000) / 1_000, 0)
  expect(figure('process_resident_memory_bytes')).toBeGreaterThan(figure('nodejs_heap_size_used_bytes'))
  expect(figure('nodejs_heap_size_limit_bytes')).toBe(getHeapStatistics().heap_size_limit)
  expect(figure('nodejs_eventloop_lag_p99_seconds')).toBeGreaterThanOrEqual(0)
})

test('the output is in the text format, with escaped labels', () => {
  const labels = { durable: 'a "b" \\ \n' }
  expect(
    printSamples('desk', [
      { name: 'opsplane_consumer_pending', labels, value: 2 },
      { name: 'opsplane_nats_connected', value: 1 },
    ]),
  ).toBe(`# HELP opsplane_consumer_pending Events of the stream that were not delivered to it yet.
# TYPE opsplane_consumer_pending gauge
opsplane_consumer_pending{durable="a \\"b\\" \\\\ \\n",service="desk"} 2

# HELP opsplane_nats_connected 1 while the NATS server answers.
# TYPE opsplane_nats_connected gauge
opsplane_nats_connected{service="desk"} 1
`)
})

describe('the metrics port', () => {
  let server: MetricsServer
  afterEach(() => server?.close())

  test('serves GET /metrics and nothing else', async () => {
    const metrics = createMetrics({ service: 'desk' })
    metrics.counter('opsplane_executions_total', { status: 'completed' })()
    server = await serveMetrics(metrics, { port: 0, host: '127.0.0.1' })
    const answer = await fetch(server.url)
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'text/plain; version=0.0.4; charset=utf-8',
    ])
    expect(await answer.text()).toContain('opsplane_executions_total{status="completed",service="desk"} 1')
    const origin = new URL(server.url).origin
    expect((await fetch(server.url, { method: 'POST' })).status).toBe(404)
    expect((await fetch(`${origin}/metrics/more`)).status).toBe(404)
    expect((await fetch(origin)).status).toBe(404)
    expect(answer.headers.get('keep-alive')).toBe('timeout=75')
  })
})
