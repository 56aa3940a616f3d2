import { type BackendName, backendNames } from '@opsplane/contracts'
import { type BackendConfig, urlOfService } from '@opsplane/runtime'
import { type ServiceClient, type ServiceClientOptions, serviceClient } from '../calls/service-client.js'

const timeoutMs = 30_000

export type PlatformClients = ReadonlyMap<BackendName, ServiceClient>

interface PlatformClientsOptions extends Pick<ServiceClientOptions, 'issuer' | 'tls'> {
  config: Pick<BackendConfig, 'serviceUrls'>
}

/** A client for each service whose URL is known. A service's context has the required options. */
export function platformClients({ config, issuer, tls }: PlatformClientsOptions): PlatformClients {
  return new Map(
    backendNames
      .filter((name) => config.serviceUrls[name] !== undefined)
      .map((name) => [
        name,
        serviceClient({ baseUrl: urlOfService(config, name), audience: name, issuer, tls, timeoutMs }),
      ]),
  )
}
