import { X509Certificate } from 'node:crypto'
import type { Metrics, Sample } from '@opsplane/telemetry'
import type { InternalTls } from './internal-tls.js'

/** Exports the expiry of the certificates this process read at startup as a metric; 0 for unused ones. */
export function measureCertificates(metrics: Metrics, tls: InternalTls | undefined): void {
  const samples: Sample[] = (
    [
      ['internal', tls?.cert],
      ['internal_ca', tls?.ca],
    ] as const
  ).map(([certificate, pem]) => ({
    name: 'opsplane_certificate_expiry_timestamp_seconds',
    labels: { certificate },
    value: pem === undefined ? 0 : Date.parse(new X509Certificate(pem).validTo) / 1_000,
  }))
  metrics.gather(() => samples)
}
