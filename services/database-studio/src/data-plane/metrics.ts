import type { Metrics } from '@opsplane/telemetry'
import type { DataPlane } from './data-plane.js'

/** Registers metrics for the connections to tenant data and for the requests that wait for one. */
export function registerDataPlaneMetrics(metrics: Metrics, plane: Pick<DataPlane, 'counts'>): void {
  metrics.gather(() =>
    Object.entries(plane.counts()).map(([state, value]) => ({
      name: 'opsplane_tenant_connections',
      labels: { state },
      value,
    })),
  )
}
