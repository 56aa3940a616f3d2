import type { BackendName } from '@opsplane/contracts'
import { type InternalIssuer, type InternalTls, type ServiceClient, serviceClient } from '@opsplane/http'
import { type BackendConfig, urlOfService } from '@opsplane/runtime'

/** One that stalls for seconds is busy, not away. */
const defaultTimeoutMs = 10_000

/** How a service calls others: where they are, and as whom. */
interface Caller {
  config: BackendConfig
  issuer: InternalIssuer
  /** Undefined for without TLS. */
  tls: InternalTls | undefined
}

/** A client of another service, with this one's own identity; the caller closes it. */
export function openServiceClient(
  { config, issuer, tls }: Caller,
  name: BackendName,
  timeoutMs: number = defaultTimeoutMs,
): ServiceClient {
  return serviceClient({ baseUrl: urlOfService(config, name), audience: name, issuer, tls, timeoutMs })
}
