import type { ReadableSpan } from '@opentelemetry/sdk-trace-base'
import { createTracing, noTracing, type Sampler, type Tracing } from './tracing.js'

export interface TracingSettings {
  /** Base URL of an OTLP/HTTP receiver; if absent, tracing is off. */
  otelExporterOtlpEndpoint?: string | undefined
  /** Headers of requests to the receiver, such as its key. */
  otelExporterOtlpHeaders?: Readonly<Record<string, string>> | undefined
  /** Timeout of an export in milliseconds. */
  otelExporterOtlpTimeout?: number | undefined
  /** Replaces the service's own name. */
  otelServiceName?: string | undefined
  /** Attributes of all exported data. */
  otelResourceAttributes?: Readonly<Record<string, string>> | undefined
  /** Turns tracing off, whatever the other settings. */
  otelSdkDisabled?: boolean | undefined
  /** `always_on`, `always_off` or `traceidratio`, optionally prefixed by `parentbased_`. */
  otelTracesSampler?: string | undefined
  /**
   * Share of traced requests, 0 to 1, unless the sampler determines it. Default: one
   * in twenty, and at most `chosenPerSecond`.
   */
  otelTracesSamplerArg?: number | undefined
}

const usualShare = 0.05
/** Limits sampled traces per second: the cost of tracing does not grow with the load. */
const chosenPerSecond = 5
/** Maximum requests per second that are traced because their callers request it, regardless of the share. */
const requestedPerSecond = 20
const usualTimeoutMs = 10_000
/** Interval of exports: sending a few spans costs as much as sending a hundred, about 2 ms in each service. */
const exportEveryMs = 20_000

/** Opens tracing if an endpoint is configured. The libraries are loaded only in that case. */
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

/** The ratio set by the sampler, if any; a ratio sampler without an argument means all, as in OpenTelemetry. */
export function parseSampleRatio({
  otelTracesSampler: sampler,
  otelTracesSamplerArg: share,
}: Pick<TracingSettings, 'otelTracesSampler' | 'otelTracesSamplerArg'>): number | undefined {
  if (sampler === undefined) return share
  if (sampler.endsWith('always_off')) return 0
  return sampler.endsWith('always_on') ? 1 : (share ?? 1)
}

/** Samples at random. In addition, samples the first requests of each second whose callers request it. */
export function createSampler(
  share: number | undefined,
  { random = Math.random, nowMs = () => performance.now() } = {},
): Sampler {
  const allowRequested = perSecond(requestedPerSecond, nowMs)
  const ofChosen = share === undefined ? perSecond(chosenPerSecond, nowMs) : () => true
  return (isRequested) => {
    if (share === 0) return false
    return (random() < (share ?? usualShare) && ofChosen()) || (isRequested && allowRequested())
  }
}

/** Returns whether the call is among the first `maxCalls` of its second. */
function perSecond(maxCalls: number, nowMs: () => number): () => boolean {
  let second = 0
  let count = 0
  return () => {
    const now = Math.floor(nowMs() / 1_000)
    if (now !== second) [second, count] = [now, 0]
    return ++count <= maxCalls
  }
}
