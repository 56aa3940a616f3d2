import {
  createCallOperation,
  createCallPlatform,
  createCauseSigner,
  createDelegations,
  createEgress,
  createOutboundHttp,
  createSecretHttp,
  createSecretValues,
  type Operations,
  openOutbound,
  type PlatformClients,
  type ServiceClient,
} from '@opsplane/http'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import type { SdkConfig } from '../config.js'
import { apiFunction } from './host/api.js'
import { connectorFunction } from './host/connector.js'
import type { HostFunctionTable } from './host/host.js'
import { httpFunction } from './host/http.js'
import { publishFunction } from './host/publish.js'
import { secretFunction } from './host/secret.js'
import { tableFunction } from './host/table.js'

/** Cache duration of secrets, as in the dispatcher: a revoked secret stops working within this time. */
const secretsKeptMs = 10_000

export interface HostParts {
  /** Client of settings with this service's own identity. */
  settings: ServiceClient
  clients: PlatformClients
  operations: Operations
}

/** Assembles the host functions through which artifacts access the outside. */
export async function openHost(
  ctx: ServiceContext<SdkConfig>,
  { settings, clients, operations }: HostParts,
): Promise<{ functions: HostFunctionTable; background: BackgroundWork[] }> {
  const { sdkCaFile, sdkAllowedCidrs, sdkDeniedCidrs, sdkAllowHttp } = ctx.config
  const outbound = await openOutbound({
    ...{ caFile: sdkCaFile, allowHttp: sdkAllowHttp },
    ...{ allowedCidrs: sdkAllowedCidrs, deniedCidrs: sdkDeniedCidrs },
  })
  const http = createOutboundHttp(outbound)
  const now = () => performance.now()
  const callPlatform = createCallPlatform({ clients, delegations: createDelegations(settings) })
  const callOperation = createCallOperation(operations, callPlatform)
  const resolveSecrets = createSecretValues({ source: settings, keptMs: secretsKeptMs, now })
  const spendEgress = createEgress(ctx.config, settings)
  const signCause = createCauseSigner({ service: 'sdk', privateKey: ctx.config.servicePrivateKey })
  return {
    functions: {
      api: apiFunction(callOperation),
      http: httpFunction(createSecretHttp({ http, resolveSecrets, spendEgress, signCause })),
      connector: connectorFunction({ callPlatform, integrations: clients.get('integrations') }),
      secret: secretFunction(resolveSecrets),
      table: tableFunction(callOperation),
      publish: publishFunction(callPlatform),
    },
    background: [outbound, http],
  }
}
