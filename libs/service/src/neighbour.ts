import type { BackendName } from '@opsplane/contracts'
import { type ServiceClient, serviceClient } from '@opsplane/http'
import { urlOfService } from '@opsplane/runtime'
import type { ServiceContext } from './context.js'

const defaultTimeoutMs = 5_000

/** A client of another service, with this one's own identity; to be closed by whoever opens it. */
export function openNeighbour(
  { config, issuer, tls }: Pick<ServiceContext, 'config' | 'issuer' | 'tls'>,
  name: BackendName,
  timeoutMs: number = defaultTimeoutMs,
): ServiceClient {
  return serviceClient({ baseUrl: urlOfService(config, name), audience: name, issuer, tls, timeoutMs })
}
