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
  /** The gateway passes it on for a client, so that what it says of the client holds. */
  isClient: boolean
  /** The token of a request made for a principal. */
  clientToken: string | undefined
  /** The service that asks in the person's name, and what for. */
  delegate: { by: string; run: string } | null
  /** Of a request by a grant: the run or execution it is made in, and that one's causation depth. */
  causationId?: string
  causationDepth?: number
  /** Of a call between services that has a token of its own. */
  callId?: string
}

/** The header by which a service that acts by a grant names the run: its id, and after a `;` its depth. */
export const causationHeader = 'x-internal-causation'
const causation = /^([A-Za-z0-9_.-]{1,100})(?:;(\d{1,3}))?$/

/** Who calls a `public` route without being logged in. */
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

/** The service that calls a route of the scope `service`. */
export function callingService({ tokenId }: Principal): string {
  if (!tokenId.startsWith(servicePrefix)) throw new Error('the caller is no service')
  return tokenId.slice(servicePrefix.length)
}

/**
 * Who calls, and whether they may: internal token, then callers of the route or workspace and scope. Throws
 * `unauthenticated`, `invalid_token`, `forbidden`, `workspace_required`, `insufficient_scope`.
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

/** A service's own identity opens the internal routes that name it and nothing else; a client's opens none of them. */
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

/** A restricted principal reaches only what says that it goes by the restrictions. Throws `forbidden`. */
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
  // Whatever is not restricted by anything a route honours, such as a login, is no route for it either.
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
