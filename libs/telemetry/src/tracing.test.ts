import { beforeEach, describe, expect, test } from '@jest/globals'
import { emptyResource } from '@opentelemetry/resources'
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base'
import { createSampler, openTracing, parseSampleRatio } from './open-tracing.js'
import { parseTraceparent } from './traceparent.js'
import {
  createTracing,
  endSpanWith,
  inSpan,
  registerCause,
  traceFields,
  traceparentOfCause,
} from './tracing.js'

const exporter = new InMemorySpanExporter()
const processor = new SimpleSpanProcessor(exporter)
const tracing = createTracing(
  { resource: emptyResource(), onEnd: (span: ReadableSpan) => processor.onEnd(span) },
  () => true,
  async () => {},
)
const caller = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const spans = () =>
  exporter.getFinishedSpans().map(({ name, parentSpanContext }) => [name, parentSpanContext?.spanId])
const spanIdOf = (traceparent: string | undefined) => traceparent?.split('-')[2]

beforeEach(() => exporter.reset())

describe('a traceparent', () => {
  test.each([
    ['as W3C has it', caller, true],
    ['of one who does not follow', caller.replace(/01$/, '00'), false],
    ['with flags of later versions', caller.replace(/01$/, 'ff'), true],
    ['of a later version, with more', `01${caller.slice(2)}-more`, true],
  ])('is parsed: %s', (_what, text, sampled) => {
    expect(parseTraceparent(text)?.sampled).toBe(sampled)
    expect(parseTraceparent(text)?.context.traceId).toBe('4bf92f3577b34da6a3ce929d0e0e4736')
  })

  test.each([
    ['nothing', ''],
    ['a version that is none', `ff${caller.slice(2)}`],
    ['more than version 00 has', `${caller}-more`],
    ['a trace of zeros', `00-${'0'.repeat(32)}-00f067aa0ba902b7-01`],
    ['a span of zeros', `00-4bf92f3577b34da6a3ce929d0e0e4736-${'0'.repeat(16)}-01`],
    ['capitals', caller.toUpperCase()],
    ['two of them', `${caller}, ${caller}`],
    ['any length', `01${caller.slice(2)}-${'x'.repeat(1_000)}`],
  ])('is rejected: %s', (_what, text) => {
    expect(parseTraceparent(text)).toBeUndefined()
  })
})

describe('a span', () => {
  test('continues the trace of the caller, and is the parent of nested spans', async () => {
    const traced = tracing.enter('request', caller, { kind: 'server' })
    const within = await inSpan('append', traced.traceparent, async (own) => {
      await Promise.resolve()
      return inSpan('write', own, (innermost) => [own, innermost])
    })
    traced.end()
    expect(spans()).toEqual([
      ['write', spanIdOf(within[0])],
      ['append', spanIdOf(traced.traceparent)],
      ['request', '00f067aa0ba902b7'],
    ])
    expect(traceFields(traced.traceparent)).toEqual({
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
      span_id: spanIdOf(traced.traceparent),
    })
    expect(new Set([traced.traceparent, ...within]).size).toBe(3)
  })

  test('can be continued later from a stored traceparent', () => {
    const traced = tracing.enter('request', undefined)
    traced.end()
    // The span has ended in this process; a traceparent passed to others still refers to it.
    expect(inSpan('late', traced.traceparent, (own) => own)).toBe(traced.traceparent)
    endSpanWith(tracing.follow('publish', traced.traceparent), () => 2)
    expect(spans().slice(1)).toEqual([['publish', spanIdOf(traced.traceparent)]])
  })

  test('is found by the id of the handled event until the event has been handled', () => {
    const [one, other] = [tracing.follow('audit', caller), tracing.follow('clocks', caller)]
    const overs = [registerCause('evt_1', one), registerCause('evt_2', other)]
    expect(['evt_1', 'evt_2', 'evt_3', null].map(traceparentOfCause)).toEqual([
      ...[one.traceparent, other.traceparent, undefined, undefined],
    ])
    for (const over of overs) over()
    expect(traceparentOfCause('evt_1')).toBeUndefined()
  })

  test('fails with the thrown error, of which it records only the type', async () => {
    const work = async () => {
      throw new TypeError('the words of a tenant')
    }
    await expect(endSpanWith(tracing.enter('request', undefined), work)).rejects.toThrow('tenant')
    const [span] = exporter.getFinishedSpans()
    expect(span?.status).toEqual({ code: 2, message: 'TypeError' })
    expect(span?.events).toEqual([])
  })

  test('is not created for an unsampled caller or without a parent', () => {
    const none = [tracing.follow('publish', null), tracing.follow('publish', caller.replace(/01$/, '00'))]
    for (const traced of none) expect(inSpan('x', traced.traceparent, (own) => own)).toBeUndefined()
    expect(inSpan('alone', undefined, () => 7)).toBe(7)
    for (const traced of none) registerCause('evt_1', traced)
    expect(traceparentOfCause('evt_1')).toBeUndefined()
    expect(spans()).toEqual([])
  })
})

describe('trace sampling', () => {
  test('samples a share of all requests', () => {
    const chances = [0.04, 0.06]
    const choose = createSampler(0.05, { random: () => chances.shift() ?? 1, nowMs: () => 0 })
    expect([choose(false), choose(false)]).toEqual([true, false])
  })

  test('samples up to twenty requests per second that ask for it', () => {
    let nowMs = 500
    const choose = createSampler(0.05, { random: () => 1, nowMs: () => nowMs })
    const chosen = () => Array.from({ length: 100 }, () => choose(true)).filter(Boolean).length
    expect(chosen()).toBe(20)
    expect(chosen()).toBe(0)
    nowMs = 1_500
    expect(chosen()).toBe(20)
  })

  test('samples one request in twenty by default, and at most five per second', () => {
    let nowMs = 500
    const lucky = createSampler(undefined, { random: () => 0.049, nowMs: () => nowMs })
    const chosen = () => Array.from({ length: 100 }, () => lucky(false)).filter(Boolean).length
    expect([chosen(), chosen()]).toEqual([5, 0])
    nowMs = 1_500
    expect(chosen()).toBe(5)
    expect(createSampler(undefined, { random: () => 0.05, nowMs: () => nowMs })(false)).toBe(false)
    const all = createSampler(1, { random: () => 0.5, nowMs: () => nowMs })
    expect(Array.from({ length: 100 }, () => all(false)).every(Boolean)).toBe(true)
  })

  test('samples no request if the ratio is 0', () => {
    expect(createSampler(0, { random: () => 0, nowMs: () => 0 })(true)).toBe(false)
  })
})

test.each([
  [undefined, undefined, undefined],
  [undefined, 0.3, 0.3],
  ['always_on', undefined, 1],
  ['always_off', 0.3, 0],
  ['traceidratio', 0.3, 0.3],
  ['parentbased_always_on', undefined, 1],
  ['parentbased_always_off', undefined, 0],
  ['parentbased_traceidratio', undefined, 1],
])('the sampler %s with the argument %s has the ratio %s', (sampler, arg, share) => {
  expect(parseSampleRatio({ otelTracesSampler: sampler, otelTracesSamplerArg: arg })).toBe(share)
})

test('tracing is disabled if the SDK is disabled', async () => {
  const settings = { otelExporterOtlpEndpoint: 'http://127.0.0.1:4318', otelSdkDisabled: true }
  expect((await openTracing('desk', settings)).enabled).toBe(false)
})

test('tracing is disabled without an exporter endpoint', async () => {
  const { enabled, enter } = await openTracing('desk', { otelTracesSamplerArg: 1 })
  expect(enabled).toBe(false)
  expect(enter('request', caller).traceparent).toBeUndefined()
})
