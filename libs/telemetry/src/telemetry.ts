import { createMetrics, type Metrics, noMetrics } from './metrics.js'
import { openTracing, type TracingSettings } from './open-tracing.js'
import { serveMetrics } from './serve-metrics.js'
import type { Tracing } from './tracing.js'

/** The settings of it, as every service has them. */
interface TelemetrySettings extends TracingSettings {
  /** 0 takes a free one; without one nothing is measured. */
  metricsPort?: number | undefined
  metricsHost?: string | undefined
  host: string
}

/** A service's logs, metrics and traces. */
interface Telemetry {
  metrics: Metrics
  tracing: Tracing
  /** Lets metrics be asked for, and returns where; undefined where they are not wanted. Rejects where the port is taken. */
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
