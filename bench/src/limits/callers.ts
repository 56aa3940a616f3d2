import type { Principal } from '@opsplane/contracts'
import { createInternalIssuer } from '@opsplane/http'
import type { Cluster } from '@opsplane/local'

/** Where requests go, and how they are let in. Plain data, so that another process can be reported. */
export interface Caller {
  url: string
  login: { headers: Record<string, string> } | { gatewayKey: string; audience: string; principal: Principal }
}

export function throughGateway({ info }: Cluster): Caller {
  const headers = { authorization: `Bearer ${info.apiKey}`, 'x-workspace': info.workspace }
  return { url: info.baseUrl, login: { headers } }
}

/** As the gateway calls a service, to leave the gateway out. */
export function toService(
  { services, secrets }: Cluster,
  audience: 'analytics' | 'dispatcher' | 'itsm' | 'database-studio',
  permissions: Principal['permissions'],
  workspaceId = 'ws_bench',
): Caller {
  const principal: Principal = {
    actor: { id: 'usr_bench', name: 'Bench', type: 'user' },
    userId: 'usr_bench',
    tokenId: 'ses_bench',
    workspaceId,
    environment: 'production',
    permissions,
  }
  const gatewayKey = secrets.serviceKeys.gateway.privateKey
  return { url: services[audience].url, login: { gatewayKey, audience, principal } }
}

/** The headers of a caller's next request; internal tokens live for a minute and are replaced. */
export function createCallerHeaders({ login }: Caller): () => Promise<Record<string, string>> {
  if ('headers' in login) return async () => login.headers
  const issuer = createInternalIssuer({ service: 'gateway', privateKey: login.gatewayKey })
  return async () => ({
    authorization: `Bearer ${await issuer.clientToken(login.audience, login.principal)}`,
  })
}
