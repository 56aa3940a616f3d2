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
  ])('%s', (_what, text, sampled) => {
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
  ])('is none: %s', (_what, text) => {
    expect(parseTraceparent(text)).toBeUndefined()
  })
})

describe('what is followed', () => {
  test('continues the trace of the caller, as far as it is propagated', async () => {
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

  test('goes on later, from what was written down', () => {
    const traced = tracing.enter('request', undefined)
    traced.end()
    // The span has ended in this process; a traceparent passed to others still refers to it.
    expect(inSpan('late', traced.traceparent, (own) => own)).toBe(traced.traceparent)
    endSpanWith(tracing.follow('publish', traced.traceparent), () => 2)
    expect(spans().slice(1)).toEqual([['publish', spanIdOf(traced.traceparent)]])
  })

  test('leads to what an event causes, for as long as the event is handled', () => {
    const [one, other] = [tracing.follow('audit', caller), tracing.follow('clocks', caller)]
    const overs = [registerCause('evt_1', one), registerCause('evt_2', other)]
    expect(['evt_1', 'evt_2', 'evt_3', null].map(traceparentOfCause)).toEqual([
      ...[one.traceparent, other.traceparent, undefined, undefined],
    ])
    for (const over of overs) over()
    expect(traceparentOfCause('evt_1')).toBeUndefined()
  })

  test('has failed with what was thrown, of which it says no more than the kind', async () => {
    const work = async () => {
      throw new TypeError('the words of a tenant')
    }
    await expect(endSpanWith(tracing.enter('request', undefined), work)).rejects.toThrow('tenant')
    const [span] = exporter.getFinishedSpans()
    expect(span?.status).toEqual({ code: 2, message: 'TypeError' })
    expect(span?.events).toEqual([])
  })

  test('is not what its caller does not follow, nor what stands alone', () => {
    const none = [tracing.follow('publish', null), tracing.follow('publish', caller.replace(/01$/, '00'))]
    for (const traced of none) expect(inSpan('x', traced.traceparent, (own) => own)).toBeUndefined()
    expect(inSpan('alone', undefined, () => 7)).toBe(7)
    for (const traced of none) registerCause('evt_1', traced)
    expect(traceparentOfCause('evt_1')).toBeUndefined()
    expect(spans()).toEqual([])
  })
})

describe('who is followed', () => {
  test('is a share of all', () => {
    const chances = [0.04, 0.06]
    const choose = createSampler(0.05, { random: () => chances.shift() ?? 1, nowMs: () => 0 })
    expect([choose(false), choose(false)]).toEqual([true, false])
  })

  test('and of those who ask for it twenty a second', () => {
    let nowMs = 500
    const choose = createSampler(0.05, { random: () => 1, nowMs: () => nowMs })
    const chosen = () => Array.from({ length: 100 }, () => choose(true)).filter(Boolean).length
    expect(chosen()).toBe(20)
    expect(chosen()).toBe(0)
    nowMs = 1_500
    expect(chosen()).toBe(20)
  })

  test('is one in twenty unless said otherwise, and at most five a second', () => {
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

  test('samples nothing where the ratio is 0', () => {
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
])('the sampler %s with the argument %s follows the share %s', (sampler, arg, share) => {
  expect(parseSampleRatio({ otelTracesSampler: sampler, otelTracesSamplerArg: arg })).toBe(share)
})

test('nothing is opened where the SDK is disabled', async () => {
  const settings = { otelExporterOtlpEndpoint: 'http://127.0.0.1:4318', otelSdkDisabled: true }
  expect((await openTracing('desk', settings)).enabled).toBe(false)
})

test('without a receiver nothing is opened', async () => {
  const { enabled, enter } = await openTracing('desk', { otelTracesSamplerArg: 1 })
  expect(enabled).toBe(false)
  expect(enter('request', caller).traceparent).toBeUndefined()
})
