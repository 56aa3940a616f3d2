export {
  type LabelsOf,
  type MetricName,
  metricCatalogue,
  type NameOf,
  seriesNames,
} from './catalogue.js'
export { byKey, createMetrics, type Metrics, noMetrics } from './metrics.js'
export type { Sample, Source } from './sample.js'
export { type MetricsServer, serveMetrics } from './serve-metrics.js'
export { openTelemetry, type Telemetry, type TelemetrySettings } from './telemetry.js'
export { parseTraceparent } from './traceparent.js'
export {
  endSpanWith,
  inSpan,
  noTracing,
  registerCause,
  type SpanOptions,
  type Traced,
  type Tracing,
  traceFields,
  traceparentOfCause,
} from './tracing.js'
