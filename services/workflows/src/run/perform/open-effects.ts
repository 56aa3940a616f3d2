import { readFile } from 'node:fs/promises'
import { type BackendName, backendNames } from '@opsplane/contracts'
import {
  createDelegations,
  createOutbound,
  createOutboundHttp,
  createSecretValues,
  type ServiceClient,
  serviceClient,
} from '@opsplane/http'
import { urlOfService } from '@opsplane/runtime'
import type { BackgroundWork, ServiceContext } from '@opsplane/service'
import type { WorkflowsConfig } from '../../config.js'
import type { Effects } from '../work.js'
import { apiEffect } from './api.js'
import { connectorEffect } from './connector.js'
import { httpEffect } from './http.js'
import { createOperations } from './operations.js'
import { createCallPlatform } from './platform-call.js'
import { publishEffect } from './publish.js'

const timeoutMs = 30_000
/** As the dispatcher does: a secret that is taken back stops within it. */
const secretsKeptMs = 10_000

/** What steps do their work elsewhere by. */
export async function openEffects(
  { config, issuer, tls }: ServiceContext<WorkflowsConfig>,
  settings: ServiceClient,
): Promise<{ effects: Effects; background: BackgroundWork[] }> {
  const { workflowCaFile, workflowAllowedCidrs, workflowDeniedCidrs, workflowAllowHttp } = config
  const ca = workflowCaFile === undefined ? undefined : await readFile(workflowCaFile, 'utf8')
  const outbound = createOutbound({
    allowedCidrs: workflowAllowedCidrs,
    deniedCidrs: workflowDeniedCidrs,
    allowHttp: workflowAllowHttp,
    ...(ca !== undefined && { ca }),
  })
  const http = createOutboundHttp(outbound)
  const clients = new Map<BackendName, ServiceClient>(
    backendNames
      .filter((name) => config.serviceUrls[name] !== undefined)
      .map((name) => [
        name,
        serviceClient({ baseUrl: urlOfService(config, name), audience: name, issuer, tls, timeoutMs }),
      ]),
  )
  const callPlatform = createCallPlatform({ clients, delegations: createDelegations(settings) })
  const resolveSecrets = createSecretValues({
    source: settings,
    keptMs: secretsKeptMs,
    now: () => performance.now(),
  })
  return {
    effects: {
      http: httpEffect({ http, resolveSecrets }),
      api: apiEffect(
        createOperations(clients, () => performance.now()),
        callPlatform,
      ),
      connector: connectorEffect(callPlatform),
      publish: publishEffect(callPlatform),
    },
    background: [outbound, http, ...clients.values()],
  }
}
