import { ApiError, type Principal, platformTenant, systemActor, type TenantScope } from '@opsplane/contracts'
import { type InternalVerifier, userIssuer, type VerifiedToken } from './internal-token.js'
import type { Route } from './route.js'

export interface Caller {
  principal: Principal
  tenant: TenantScope
  /** What the request says of its client holds. */
  speaksForClients: boolean
}

/** Who calls a `public` route without being logged in. */
export const anonymousPrincipal: Principal = {
  actor: { id: 'anonymous', name: 'Anonymous', type: 'system' },
  userId: 'anonymous',
  tokenId: 'anonymous',
  permissions: [],
}

const servicePrefix = 'service:'

const servicePrincipal = (service: string): Principal => ({
  actor: systemActor,
  userId: systemActor.id,
  tokenId: `${servicePrefix}${service}`,
  permissions: [],
})

/** The service that calls a route of the scope `service`. */
export function callingService({ tokenId }: Principal): string {
  if (!tokenId.startsWith(servicePrefix)) throw new Error('the caller is no service')
  return tokenId.slice(servicePrefix.length)
}

/**
 * Who calls, and whether they may: internal token, then workspace, then scope. Throws `unauthenticated`,
 * `invalid_token`, `forbidden`, `workspace_required`, `insufficient_scope`.
 */
export async function authenticate(
  route: Route,
  authorization: string | undefined,
  verifier: InternalVerifier | undefined,
): Promise<Caller> {
  if (!verifier) return { principal: anonymousPrincipal, tenant: platformTenant, speaksForClients: false }
  const verified = await verifier.verify(bearerToken(authorization))
  const principal = admit(route, verified)
  const speaksForClients = verified.issuer === userIssuer
  return { principal, tenant: authorize(route, principal), speaksForClients }
}

function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined || !/^bearer /i.test(authorization)) throw unauthenticated()
  return authorization.slice('bearer '.length).trim()
}

function admit(route: Route, { issuer, principal }: VerifiedToken): Principal {
  if (route.scope === 'service') {
    if (principal) throw new ApiError('forbidden', 'This operation is for services only.')
    return servicePrincipal(issuer)
  }
  if (principal) return principal
  if (route.scope === 'public') return anonymousPrincipal
  throw unauthenticated()
}

function authorize(route: Route, principal: Principal): TenantScope {
  const { scope } = route
  const tenant = route.workspace === 'none' ? platformTenant : workspaceOf(principal)
  const open = scope === 'public' || scope === 'authenticated' || scope === 'service'
  if (!open && !principal.permissions.includes(scope)) {
    throw new ApiError('insufficient_scope', `This operation needs the permission ${scope}.`, {
      headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
    })
  }
  return tenant
}

function workspaceOf({ workspaceId, environment }: Principal): TenantScope {
  if (workspaceId === undefined) {
    throw new ApiError('workspace_required', 'Name the workspace in the X-Workspace header.')
  }
  return { workspaceId, environment: environment ?? 'production' }
}

function unauthenticated(): ApiError {
  return new ApiError('unauthenticated', 'Send a token in the Authorization header.')
}
