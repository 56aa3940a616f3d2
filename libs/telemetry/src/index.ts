export {
  type LabelsOf,
  type MetricName,
  metricCatalogue,
  type NameOf,
  seriesNames,
} from './catalogue.js'
export { byKey, createMetrics, type Metrics, noMetrics, type Sample, type Source } from './metrics.js'
export { type MetricsServer, serveMetrics } from './serve-metrics.js'
export { openTelemetry, type Telemetry, type TelemetrySettings } from './telemetry.js'
export { parseTraceparent } from './traceparent.js'
export {
  causedBy,
  endingWith,
  inSpan,
  noTracing,
  type SpanOptions,
  type Traced,
  type Tracing,
  traceFields,
  traceparentOfCause,
} from './tracing.js'
