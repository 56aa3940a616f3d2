import type { Metrics } from '@opsplane/telemetry'
import type { NatsLink } from './link.js'

/** Records metrics of a NATS connection. */
export function measureLink(metrics: Metrics, link: Pick<NatsLink, 'connected' | 'onChange'>): void {
  let connects = 0
  link.onChange(() => {
    if (link.connected()) connects++
  })
  metrics.gather(() => [
    { name: 'opsplane_nats_connected', value: link.connected() ? 1 : 0 },
    { name: 'opsplane_nats_reconnects_total', value: Math.max(connects - 1, 0) },
  ])
}
