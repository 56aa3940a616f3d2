import {
  type CallOperation,
  createCallOperation,
  createCallPlatform,
  createDelegations,
  createOperations,
  type Delegations,
  type Operations,
  type PlatformClients,
  platformClients,
  type ServiceClient,
  serviceClient,
} from '@opsplane/http'
import { urlOfService } from '@opsplane/runtime'
import type { ServiceContext } from '@opsplane/service'

/** The other services, called in the name of people. */
export interface Platform {
  delegations: Delegations
  operations: Operations
  call: CallOperation
  close(): Promise<void>
}

const settingsTimeoutMs = 5_000

export function openPlatform(ctx: ServiceContext): Platform {
  const clients: PlatformClients = platformClients(ctx)
  const { config, issuer, tls } = ctx
  const settings: ServiceClient = serviceClient({
    baseUrl: urlOfService(config, 'settings'),
    ...{ audience: 'settings', issuer, tls, timeoutMs: settingsTimeoutMs },
  })
  const delegations = createDelegations(settings)
  const operations = createOperations(clients, () => performance.now())
  return {
    delegations,
    operations,
    call: createCallOperation(operations, createCallPlatform({ clients, delegations })),
    async close() {
      await Promise.all([settings.close(), ...[...clients.values()].map((client) => client.close())])
    },
  }
}
