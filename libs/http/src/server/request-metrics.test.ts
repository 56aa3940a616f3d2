import { expect, test } from '@jest/globals'
import { createMetrics, noMetrics } from '@opsplane/telemetry'
import { requestRecorders } from './request-metrics.js'

const lines = (text: string) =>
  text.split('\n').filter((line) => /^opsplane_http_requests_total|_seconds_(?:count|sum)/.test(line))

test('counts responses by operation, method and status class, and records their durations', async () => {
  const metrics = createMetrics({ service: 'desk' })
  const recorderFor = requestRecorders(metrics)
  const read = { operationId: 'getNote', waits: false }
  recorderFor(read, 'GET')?.(200, 250)
  recorderFor(read, 'GET')?.(204, 250)
  recorderFor(read, 'HEAD')?.(404, 500)
  const text = await metrics.text()
  expect(lines(text).filter((line) => line.includes('operation="getNote"'))).toEqual([
    'opsplane_http_requests_total{operation="getNote",method="GET",status="2xx",service="desk"} 2',
    'opsplane_http_requests_total{operation="getNote",method="HEAD",status="4xx",service="desk"} 1',
    'opsplane_http_request_duration_seconds_sum{operation="getNote",waits="false",service="desk"} 1',
    'opsplane_http_request_duration_seconds_count{operation="getNote",waits="false",service="desk"} 3',
  ])
})

test('every status class and both values of waits exist before the first request', async () => {
  const metrics = createMetrics({ service: 'desk' })
  requestRecorders(metrics)
  const found = lines(await metrics.text())
  expect(found.map((line) => /(?:status|waits)="([^"]*)".* 0$/.exec(line)?.[1])).toEqual([
    ...['2xx', '3xx', '4xx', '5xx', 'false', 'false', 'true', 'true'],
  ])
})

test('unknown methods are counted under one label', async () => {
  const metrics = createMetrics({ service: 'desk' })
  const recorderFor = requestRecorders(metrics)
  for (const method of ['BREW', 'PROPFIND', 'get'])
    recorderFor({ operationId: 'none', waits: false }, method)?.(405, 1)
  expect(await metrics.text()).toContain('{operation="none",method="other",status="4xx",service="desk"} 3')
})

test('records nothing if metrics are disabled', () => {
  expect(requestRecorders(noMetrics)({ operationId: 'getNote', waits: false }, 'GET')).toBeUndefined()
})
