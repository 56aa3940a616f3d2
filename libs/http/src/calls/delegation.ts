import {
  ApiError,
  DelegatedToken,
  type DelegationRequest,
  Grant,
  type GrantCaller,
  type GrantRequest,
  type Principal,
} from '@opsplane/contracts'
import { LRUCache } from 'lru-cache'
import { z } from 'zod'
import type { RequestMeta } from '../route/route.js'
import type { InternalIssuer } from './internal-token.js'
import type { ServiceClient } from './service-client.js'

/** How long a token is reused. A revoked right remains effective here for as long. */
const reuseMs = 1_000
const maxKept = 1_000

/** Who uses a grant, and how that narrows it: see `DelegationRequest`. */
export type CarriedLimits = Partial<
  Pick<DelegationRequest, 'workflow' | 'permissions' | 'callers' | 'callerRights' | 'person'>
>

export interface Delegations {
  /**
   * Called in a person's request: lets this service act for them in one run, with at most their rights, until the grant
   * or their rights end. Throws `forbidden` without a signed-in principal.
   */
  delegate(meta: Pick<RequestMeta, 'clientToken'>, request: Omit<GrantRequest, 'clientToken'>): Promise<Grant>
  /**
   * Signs the calls of a `serviceClient` in the person's name. Settings checks whether the grant is
   * still valid: if not, the call throws `token_expired`, `workspace_forbidden` or `invalid_token`.
   * Events name the workflow, if one is given.
   */
  actingBy(grant: string, limits?: CarriedLimits): Pick<InternalIssuer, 'serviceToken'>
  /** Ends a standing grant. Does nothing if it has already ended. */
  revoke(grant: string): Promise<void>
}

/** All callers on whose request a principal acts, including itself, for the `callers` of a grant used for it. */
export const grantCallers = ({ userId, tokenId, callers = [] }: Principal): GrantCaller[] => [
  { userId, tokenId },
  // Their keys were already checked when the principal's own token was issued.
  ...callers.map((caller) => ({ userId: caller.userId, tokenId: '' })),
]

/** `settings`: a client of the settings service with this service's own identity. */
export function createDelegations(settings: Pick<ServiceClient, 'post'>): Delegations {
  const tokens = new LRUCache<string, { token: Promise<string>; until: number }>({ max: maxKept })
  const requestToken = async (request: DelegationRequest) =>
    (await settings.post('/internal/delegations', request, DelegatedToken)).token

  return {
    async delegate({ clientToken }, request) {
      if (clientToken === undefined)
        throw new ApiError('forbidden', 'Only what a person asks for can go on in their name.')
      return settings.post('/internal/grants', { ...request, clientToken }, Grant)
    },
    async revoke(grant) {
      await settings.post('/internal/grants/revoke', { grant }, z.unknown())
    },
    actingBy: (grant, limits = {}) => ({
      serviceToken(audience) {
        const request: DelegationRequest = { ...limits, grant, audience }
        const key = JSON.stringify(request)
        const known = tokens.get(key)
        if (known && known.until > performance.now()) return known.token
        const token = requestToken(request)
        tokens.set(key, { token, until: performance.now() + reuseMs })
        token.catch(() => tokens.delete(key))
        return token
      },
    }),
  }
}
