import { createMetrics, type Metrics, noMetrics } from './metrics.js'
import { openTracing, type TracingSettings } from './open-tracing.js'
import { serveMetrics } from './serve-metrics.js'
import type { Tracing } from './tracing.js'

/** Telemetry settings of every service. */
interface TelemetrySettings extends TracingSettings {
  /** 0 selects a free port; if absent, nothing is measured. */
  metricsPort?: number | undefined
  metricsHost?: string | undefined
  host: string
}

/** A service's metrics and traces. */
interface Telemetry {
  metrics: Metrics
  tracing: Tracing
  /** Serves the metrics and returns their address; `undefined` if they are disabled. Rejects if the port is in use. */
  serve(): Promise<string | undefined>
  close(): Promise<void>
}

export async function openTelemetry(service: string, settings: TelemetrySettings): Promise<Telemetry> {
  const { metricsPort: port, metricsHost: host = settings.host } = settings
  const metrics = port === undefined ? noMetrics : createMetrics({ service })
  const tracing = await openTracing(service, settings)
  let close = async () => {}
  return {
    metrics,
    tracing,
    async serve() {
      if (port === undefined) return undefined
      const server = await serveMetrics(metrics, { port, host })
      close = server.close
      return server.url
    },
    async close() {
      await Promise.all([close(), tracing.close()])
    },
  }
}
