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
} from '@opsplane/http'
import { openServiceClient, type ServiceContext } from '@opsplane/service'

/** The other services, called with the rights of people. */
export interface Platform {
  settings: Pick<ServiceClient, 'post'>
  delegations: Delegations
  operations: Operations
  call: CallOperation
  close(): Promise<void>
}

export function openPlatform(ctx: ServiceContext): Platform {
  const clients: PlatformClients = platformClients(ctx)
  const settings = openServiceClient(ctx, 'settings')
  const delegations = createDelegations(settings)
  const operations = createOperations(clients, () => performance.now())
  return {
    settings,
    delegations,
    operations,
    call: createCallOperation(operations, createCallPlatform({ clients, delegations })),
    async close() {
      await Promise.all([settings.close(), ...[...clients.values()].map((client) => client.close())])
    },
  }
}
