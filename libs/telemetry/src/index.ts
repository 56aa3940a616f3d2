export { seriesNames } from './catalogue.js'
export { byKey, createMetrics, type Metrics, noMetrics } from './metrics.js'
export type { Sample } from './sample.js'

export { openTelemetry } from './telemetry.js'

export {
  endSpanWith,
  inSpan,
  noTracing,
  registerCause,
  type Traced,
  type Tracing,
  traceFields,
  traceparentOfCause,
} from './tracing.js'
