import { type BackendName, backendNames } from '@opsplane/contracts'
import { type ServiceClient, serviceClient } from '@opsplane/http'
import { urlOfService } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'
import type { WorkflowsConfig } from '../../config.js'

const timeoutMs = 30_000

export type PlatformClients = ReadonlyMap<BackendName, ServiceClient>

/** A client of every service whose address is known. */
export function platformClients({ config, issuer, tls }: ServiceContext<WorkflowsConfig>): PlatformClients {
  return new Map(
    backendNames
      .filter((name) => config.serviceUrls[name] !== undefined)
      .map((name) => [
        name,
        serviceClient({ baseUrl: urlOfService(config, name), audience: name, issuer, tls, timeoutMs }),
      ]),
  )
}
