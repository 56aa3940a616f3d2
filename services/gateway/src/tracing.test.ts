import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals'
import {
  asAda,
  call,
  startPlatform,
  startUpstream,
  type TestPlatform,
  type Upstream,
} from './fixture/platform.js'

const caller = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
let receiver: Upstream
let traced: TestPlatform
let untraced: TestPlatform

beforeAll(async () => {
  receiver = await startUpstream((_request, response) => void response.end('{}'))
  // No request is sampled randomly, only those that request it.
  const tracing = { otelExporterOtlpEndpoint: receiver.url, otelTracesSamplerArg: Number.MIN_VALUE }
  traced = await startPlatform(tracing)
  untraced = await startPlatform()
})
afterAll(async () => {
  await traced.stop()
  await untraced.stop()
  await receiver.close()
})
afterEach(() => {
  for (const { itsm } of [traced, untraced]) itsm.requests.length = 0
})

/** The trace headers received by the service. */
async function passedOn(platform: TestPlatform, headers: Record<string, string>) {
  const { status } = await call(`${platform.url}/api/v1/itsm/incidents`, {
    headers: { ...asAda, ...headers },
  })
  expect(status).toBe(200)
  const { traceparent, tracestate } = platform.itsm.requests[0]?.headers ?? {}
  return { traceparent, tracestate }
}

test('the trace of a caller that records it is continued by a span of the gateway', async () => {
  const { traceparent, tracestate } = await passedOn(traced, { traceparent: caller, tracestate: 'a=b' })
  expect(traceparent).toMatch(/^00-4bf92f3577b34da6a3ce929d0e0e4736-[0-9a-f]{16}-01$/)
  expect(traceparent).not.toBe(caller)
  expect(tracestate).toBeUndefined()
})

test.each([
  ['what is no traceparent', { traceparent: 'once upon a time' }],
  ['one of a caller that does not follow', { traceparent: caller.replace(/01$/, '00') }],
  ['nothing', {}],
])('no traceparent is sent to a service if the client sends: %s', async (_what, headers) => {
  expect((await passedOn(traced, headers as Record<string, string>)).traceparent).toBeUndefined()
})

test('without tracing no trace header of a client reaches a service', async () => {
  expect(await passedOn(untraced, { traceparent: caller, tracestate: 'a=b' })).toEqual({
    traceparent: undefined,
    tracestate: undefined,
  })
})
