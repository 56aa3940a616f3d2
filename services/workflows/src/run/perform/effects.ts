import {
  createCallPlatform,
  createCauseSigner,
  createDelegations,
  createEgress,
  createOutboundHttp,
  createSecretHttp,
  createSecretValues,
  type Operations,
  type Outbound,
  type PlatformClients,
  type ServiceClient,
} from '@opsplane/http'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import type { WorkflowsConfig } from '../../config.js'
import type { Effects } from '../work.js'
import { apiEffect } from './api.js'
import { artifactEffect } from './artifact.js'
import { connectorEffect } from './connector.js'
import { httpEffect } from './http.js'
import { publishEffect } from './publish.js'

/** Cache duration of secrets, as in the dispatcher: a revoked secret stops working within this time. */
const secretsKeptMs = 10_000

export interface EffectParts {
  settings: ServiceClient
  clients: PlatformClients
  operations: Operations
  outbound: Outbound
}

/** The effects of steps, by kind. */
export function createEffects(
  { config }: ServiceContext<WorkflowsConfig>,
  { settings, clients, operations, outbound }: EffectParts,
): { effects: Effects; background: BackgroundWork[] } {
  const http = createOutboundHttp(outbound)
  const callPlatform = createCallPlatform({ clients, delegations: createDelegations(settings) })
  const resolveSecrets = createSecretValues({
    source: settings,
    keptMs: secretsKeptMs,
    now: () => performance.now(),
  })
  return {
    effects: {
      http: httpEffect(
        createSecretHttp({
          ...{ http, resolveSecrets },
          spendEgress: createEgress(config, settings),
          signCause: createCauseSigner({ service: 'workflows', privateKey: config.servicePrivateKey }),
        }),
      ),
      api: apiEffect(operations, callPlatform),
      connector: connectorEffect(callPlatform),
      artifact: artifactEffect(callPlatform),
      publish: publishEffect(callPlatform),
    },
    background: [http],
  }
}
