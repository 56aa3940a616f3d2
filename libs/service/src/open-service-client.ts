import type { BackendName } from '@opsplane/contracts'
import { type InternalIssuer, type InternalTls, type ServiceClient, serviceClient } from '@opsplane/http'
import { type BackendConfig, urlOfService } from '@opsplane/runtime'

/** Longer than a busy service stalls, which can take seconds. */
const defaultTimeoutMs = 10_000

/** Where a service finds other services, and its identity in calls. */
interface Caller {
  config: BackendConfig
  issuer: InternalIssuer
  /** `undefined` for plain connections. */
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
