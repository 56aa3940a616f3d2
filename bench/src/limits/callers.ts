import type { Principal } from '@opsplane/contracts'
import { createInternalIssuer } from '@opsplane/http'
import type { Cluster } from '@opsplane/local'

/** Target and authentication of requests. Plain data, so that it can be passed to another process. */
export interface Caller {
  url: string
  login: { headers: Record<string, string> } | { gatewayKey: string; audience: string; principal: Principal }
}

export function throughGateway({ info }: Cluster): Caller {
  const headers = { authorization: `Bearer ${info.apiKey}`, 'x-workspace': info.workspace }
  return { url: info.baseUrl, login: { headers } }
}

/** Calls a service directly, as the gateway does, to exclude the gateway from the measurement. */
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

/** Returns the headers for a caller's next request; internal tokens are valid for a minute and are renewed. */
export function createCallerHeaders({ login }: Caller): () => Promise<Record<string, string>> {
  if ('headers' in login) return async () => login.headers
  const issuer = createInternalIssuer({ service: 'gateway', privateKey: login.gatewayKey })
  return async () => ({
    authorization: `Bearer ${await issuer.clientToken(login.audience, login.principal)}`,
  })
}
