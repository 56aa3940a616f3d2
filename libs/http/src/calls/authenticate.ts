import type { IncomingMessage } from 'node:http'
import {
  ApiError,
  honourableRestrictions,
  type Principal,
  platformTenant,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import type { Route } from '../route/route.js'
import type { InternalVerifier, VerifiedToken } from './internal-token.js'

export interface Caller {
  principal: Principal
  tenant: TenantScope
  /** Whether the gateway forwarded the request for a client, so that its statements about the client can be trusted. */
  isClient: boolean
  /** The token of a request made for a principal. */
  clientToken: string | undefined
  /** The service that calls in the person's name, and the purpose. */
  delegate: { by: string; run: string } | null
  /** For calls by a grant: the run or execution that makes the call, and its causation depth. */
  causationId?: string
  causationDepth?: number
  /** For calls between services with a token for one call. */
  callId?: string
}

/** Header by which a service that acts by a grant names the run: its id, and after a `;` its depth. */
export const causationHeader = 'x-internal-causation'
const causation = /^([A-Za-z0-9_.-]{1,100})(?:;(\d{1,3}))?$/

/** Principal of a caller of a `public` route who is not logged in. */
const anonymousPrincipal: Principal = {
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

/** Name of the service that calls a route with the scope `service`. */
export function callingService({ tokenId }: Principal): string {
  if (!tokenId.startsWith(servicePrefix)) throw new Error('the caller is no service')
  return tokenId.slice(servicePrefix.length)
}

/**
 * Authenticates and authorizes a request: internal token first, then callers of the route, or workspace and scope.
 * Throws `unauthenticated`, `invalid_token`, `forbidden`, `workspace_required`, `insufficient_scope`.
 */
export async function authenticate(
  route: Route,
  { headers, method = '', url = '' }: Pick<IncomingMessage, 'headers' | 'method' | 'url'>,
  verifier: InternalVerifier | undefined,
): Promise<Caller> {
  if (!verifier)
    return {
      ...{ principal: anonymousPrincipal, tenant: platformTenant, isClient: false },
      ...{ clientToken: undefined, delegate: null },
    }
  const token = bearerToken(headers.authorization)
  const verified = await verifier.verify(token, { method, path: url })
  const principal = admit(route, verified)
  const isClient = verified.kind === 'client'
  if (route.operator && !(isClient && principal.operator)) throw notOperator()
  const clientToken = verified.kind === 'service' ? undefined : token
  const delegate = verified.kind === 'delegate' ? { by: verified.by, run: verified.run } : null
  const cause = headers[causationHeader]
  const caused = delegate !== null && typeof cause === 'string' ? causation.exec(cause) : null
  return {
    ...{ principal, tenant: authorize(route, principal), isClient, clientToken, delegate },
    ...(verified.kind === 'service' && verified.callId !== undefined && { callId: verified.callId }),
    ...(caused?.[1] !== undefined && { causationId: caused[1], causationDepth: Number(caused[2] ?? 0) }),
  }
}

function bearerToken(authorization: string | undefined): string {
  if (authorization === undefined || !/^bearer /i.test(authorization)) throw unauthenticated()
  return authorization.slice('bearer '.length).trim()
}

/** A service identity only gives access to the internal routes that list the service; a client's token to none of them. */
function admit(route: Route, verified: VerifiedToken): Principal {
  if (route.scope === 'service') {
    const { kind, issuer } = verified
    const isCaller = kind === 'service' && route.callers.some((caller) => caller === issuer)
    if (!isCaller) throw new ApiError('forbidden', `Service "${issuer}" may not call this internal endpoint.`)
    return servicePrincipal(issuer)
  }
  if (verified.kind === 'service') throw unauthenticated()
  if (verified.principal) return verified.principal
  if (route.scope === 'public') return anonymousPrincipal
  throw unauthenticated()
}

function authorize(route: Route, principal: Principal): TenantScope {
  const { scope } = route
  const tenant = route.workspace === 'required' ? workspaceOf(principal) : platformTenant
  const open = scope === 'public' || scope === 'authenticated' || scope === 'service'
  if (!open && !principal.permissions.includes(scope)) {
    throw new ApiError('insufficient_scope', `This operation needs the permission ${scope}.`, {
      headers: { 'WWW-Authenticate': `Bearer error="insufficient_scope", scope="${scope}"` },
    })
  }
  refuseUnhonoured(route, principal, tenant)
  return tenant
}

/** A restricted principal may only call routes that declare that they enforce its restrictions. Throws `forbidden`. */
function refuseUnhonoured(
  { honours, scope }: Route,
  { restrictions }: Principal,
  { environment }: TenantScope,
): void {
  if (restrictions === undefined) return
  const { environments, families } = restrictions
  const unhonoured = honourableRestrictions.some(
    (each) => restrictions[each] !== undefined && !honours.includes(each),
  )
  const outside =
    environments?.includes(environment) === false ||
    families?.includes(scope.split(':', 1)[0] ?? '') === false
  // Routes that enforce no restrictions at all, such as a login, also reject every restricted principal.
  if (unhonoured || outside || honours.length === 0)
    throw new ApiError('forbidden', 'The token is restricted, and this operation is beyond what it is for.')
}

function workspaceOf({ workspaceId, environment }: Principal): TenantScope {
  if (workspaceId === undefined) {
    throw new ApiError('workspace_required', 'Name the workspace in the X-Workspace header.')
  }
  return { workspaceId, environment: environment ?? 'production' }
}

function notOperator(): ApiError {
  return new ApiError(
    'forbidden',
    'This is for those who operate the installation. Sign in with a login that OPERATORS of settings names and whose e-mail address is ' +
      'proven; an API key does not do.',
  )
}

function unauthenticated(): ApiError {
  return new ApiError('unauthenticated', 'Send a token in the Authorization header.')
}
