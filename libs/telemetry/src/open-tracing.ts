import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { createTracing, noTracing, type Sampler, type Tracing } from './tracing.js'

export interface TracingSettings {
  /** Base URL of an OTLP/HTTP receiver; nothing is followed without. */
  otelExporterOtlpEndpoint?: string | undefined
  /** Sent to it, such as its key. */
  otelExporterOtlpHeaders?: Readonly<Record<string, string>> | undefined
  /** Milliseconds an export may take. */
  otelExporterOtlpTimeout?: number | undefined
  /** Names the service in place of its own name. */
  otelServiceName?: string | undefined
  /** Attributes of all that is sent. */
  otelResourceAttributes?: Readonly<Record<string, string>> | undefined
  /** Nothing is followed, wherever it would go. */
  otelSdkDisabled?: boolean | undefined
  /** `always_on`, `always_off` or `traceidratio`, or these with `parentbased_` before them. */
  otelTracesSampler?: string | undefined
  /** The share of requests that are followed, 0 to 1, where the sampler does not say; unless given one in twenty, and at most `chosenPerSecond`. */
  otelTracesSamplerArg?: number | undefined
}

const usualShare = 0.05
/** Limits sampled traces per second: the cost of tracing does not grow with the load. */
const chosenPerSecond = 5
/** Requests of a second that are followed because their callers ask for it, whatever the share is. */
const askedPerSecond = 20
const usualTimeoutMs = 10_000
/** Spans are gathered for so long: sending a few costs as much as sending a hundred, some 2 ms in each service. */
const exportEveryMs = 20_000

/** Follows what a service does, where its telemetry has somewhere to go. What that takes is loaded only then. */
export async function openTracing(service: string, settings: TracingSettings): Promise<Tracing> {
  const { otelExporterOtlpEndpoint: endpoint, otelExporterOtlpHeaders: headers = {} } = settings
  if (endpoint === undefined || settings.otelSdkDisabled) return noTracing
  const [{ OTLPTraceExporter }, { defaultResource, resourceFromAttributes }, { BatchSpanProcessor }] =
    await Promise.all([
      import('@opentelemetry/exporter-trace-otlp-http'),
      import('@opentelemetry/resources'),
      import('@opentelemetry/sdk-trace-base'),
    ])
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    headers: { ...headers },
    timeoutMillis: settings.otelExporterOtlpTimeout ?? usualTimeoutMs,
  })
  const processor = new BatchSpanProcessor(exporter, { scheduledDelayMillis: exportEveryMs })
  const sink = {
    resource: defaultResource().merge(
      resourceFromAttributes({
        ...{ 'service.name': service, 'service.namespace': 'opsplane' },
        ...settings.otelResourceAttributes,
        ...(settings.otelServiceName !== undefined && { 'service.name': settings.otelServiceName }),
      }),
    ),
    onEnd: (span: ReadableSpan) => processor.onEnd(span),
  }
  return createTracing(sink, createSampler(parseSampleRatio(settings)), () =>
    processor.shutdown().catch(() => {}),
  )
}

/** What the sampler says, if there is one; a ratio without an argument is all, as OpenTelemetry has it. */
export function parseSampleRatio({
  otelTracesSampler: sampler,
  otelTracesSamplerArg: share,
}: Pick<TracingSettings, 'otelTracesSampler' | 'otelTracesSamplerArg'>): number | undefined {
  if (sampler === undefined) return share
  if (sampler.endsWith('always_off')) return 0
  return sampler.endsWith('always_on') ? 1 : (share ?? 1)
}

/** By chance; of those whose callers ask for it the first ones of each second as well. */
export function createSampler(
  share: number | undefined,
  { random = Math.random, nowMs = () => performance.now() } = {},
): Sampler {
  const ofAsked = perSecond(askedPerSecond, nowMs)
  const ofChosen = share === undefined ? perSecond(chosenPerSecond, nowMs) : () => true
  return (isAsked) => {
    if (share === 0) return false
    return (random() < (share ?? usualShare) && ofChosen()) || (isAsked && ofAsked())
  }
}

/** Whether one more is among the first so many of its second. */
function perSecond(most: number, nowMs: () => number): () => boolean {
  let second = 0
  let count = 0
  return () => {
    const now = Math.floor(nowMs() / 1_000)
    if (now !== second) [second, count] = [now, 0]
    return ++count <= most
  }
}
