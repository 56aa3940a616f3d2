import { type Choice, createTracing, noTracing, type Tracing } from './tracing.js'

export interface TracingSettings {
  /** Base URL of an OTLP/HTTP receiver; nothing is followed without. */
  otelExporterOtlpEndpoint?: string | undefined
  /** Sent to it, such as its key: `name=value`, separated by commas. */
  otelExporterOtlpHeaders?: string | undefined
  /** The share of requests that are followed, 0 to 1. */
  otelTracesSamplerArg: number
}

/** Requests of a second that are followed because their callers ask for it, whatever the share is. */
const askedPerSecond = 20
const exportTimeoutMs = 10_000
/** Spans are gathered for so long: sending a few costs as much as sending a hundred. */
const exportEveryMs = 10_000

/** Follows what a service does, where its telemetry has somewhere to go. What that takes is loaded only then. */
export async function openTracing(service: string, settings: TracingSettings): Promise<Tracing> {
  const { otelExporterOtlpEndpoint: endpoint, otelExporterOtlpHeaders: headers = '' } = settings
  if (endpoint === undefined) return noTracing
  const [{ OTLPTraceExporter }, { resourceFromAttributes }, sdk] = await Promise.all([
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@opentelemetry/sdk-trace-base'),
  ])
  const exporter = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/$/, '')}/v1/traces`,
    headers: headersOf(headers),
    timeoutMillis: exportTimeoutMs,
  })
  const provider = new sdk.BasicTracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'opsplane' }),
    // What is begun was chosen before.
    sampler: new sdk.AlwaysOnSampler(),
    spanProcessors: [new sdk.BatchSpanProcessor(exporter, { scheduledDelayMillis: exportEveryMs })],
  })
  return createTracing(provider.getTracer('opsplane'), chooser(settings.otelTracesSamplerArg), () =>
    provider.shutdown().catch(() => {}),
  )
}

/** By chance; of those whose callers ask for it the first ones of each second as well. */
export function chooser(
  share: number,
  { random = Math.random, nowMs = () => performance.now() } = {},
): Choice {
  let second = 0
  let asked = 0
  return (isAsked) => {
    if (share > 0 && random() < share) return true
    if (!isAsked || share === 0) return false
    const now = Math.floor(nowMs() / 1_000)
    if (now !== second) [second, asked] = [now, 0]
    return ++asked <= askedPerSecond
  }
}

const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    text
      .split(',')
      .map((pair) => pair.split('='))
      .flatMap(([name = '', ...value]) =>
        name.trim() === '' ? [] : [[name.trim(), value.join('=').trim()]],
      ),
  )
