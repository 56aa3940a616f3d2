import {
  ApiError,
  type DelegationRequest,
  type GrantRequest,
  newId,
  type Principal,
} from '@opsplane/contracts'
import { createGrants } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import type { SettingsConfig } from '../config.js'
import { findToken } from '../token/queries.js'
import { carriedPrincipal } from './carried-principal.js'
import { createIdentifyCaller } from './identify-caller.js'
import { isKey, standingGrants } from './standing-grants.js'

/** Lets services act for people: with the rights they had at the time of the request, as far as they still have them. */
export type Delegations = ReturnType<typeof createDelegations>

/** Maximum duration of a grant that was requested with the token of another grant, in seconds. */
const longestOnwardSeconds = 120

export function createDelegations({ config, database, clock }: ServiceContext<SettingsConfig>) {
  const { db } = database
  const grants = createGrants(config.servicePrivateKey, config.previousServicePrivateKeys)
  const standingGrantStore = standingGrants(database)
  const identifyCaller = createIdentifyCaller({ db, config })

  /** Opens a grant. Throws unless it belongs to this service and has not ended. */
  const openOwn = async (grant: string, service: string) => {
    const claims = await grants.open(grant)
    if (claims.by !== service) throw new ApiError('forbidden', 'The grant belongs to another service.')
    if (claims.grantId !== undefined && !(await standingGrantStore.isValid(claims.grantId)))
      throw new ApiError('invalid_token', 'The grant was revoked.')
    return claims
  }

  /** The person who uses a carrying grant. Both grants must be of the same workspace and environment. */
  const personOf = async (person: string, giver: Principal, service: string) => {
    const { principal } = await openOwn(person, service)
    if (principal.workspaceId !== giver.workspaceId || principal.environment !== giver.environment)
      throw new ApiError('forbidden', 'The grant was requested in another workspace or environment.')
    return principal
  }

  /** The id of a standing grant of this service; `undefined` for a grant with an expiry. */
  const standingIdOf = async (grant: string, service: string) => {
    const claims = await grants.open(grant)
    if (claims.by !== service) throw new ApiError('forbidden', 'The grant belongs to another service.')
    return claims.grantId
  }

  return {
    /**
     * Issues a grant. The client token was issued for `service`, which proves that the person sent a request to that
     * service.
     */
    async grant(request: GrantRequest, service: string) {
      const { principal, isDelegate } = await identifyCaller(request, service)
      const requestedPermissions: ReadonlySet<string> = new Set(request.permissions ?? principal.permissions)
      const permissions = principal.permissions.filter((each) => requestedPermissions.has(each))
      const { run } = request
      // A grant requested under another grant lasts no longer than a call, so that it cannot outlive that grant.
      const asOnward = Math.min(request.expiresInSeconds ?? longestOnwardSeconds, longestOnwardSeconds)
      const expiresInSeconds = isDelegate ? asOnward : request.expiresInSeconds
      const claims = { principal: { ...principal, permissions }, by: service, run }
      if (expiresInSeconds !== null) {
        const expiresAt = new Date(Date.now() + expiresInSeconds * 1_000).toISOString()
        return { grant: await grants.seal(claims, expiresInSeconds), expiresAt }
      }
      const grantId = newId('grant')
      const keyEndsAt = isKey(principal)
        ? ((await findToken(db, principal.tokenId))?.expiresAt ?? null)
        : null
      await standingGrantStore.add({ id: grantId, workspaceId: principal.workspaceId, ...claims, keyEndsAt })
      return { grant: await grants.seal({ ...claims, grantId }, null), expiresAt: null }
    },

    async token({ grant, audience, workflow, person, ...limits }: DelegationRequest, service: string) {
      const claims = await openOwn(grant, service)
      const principal = await carriedPrincipal(db, clock.now(), {
        ...limits,
        giver: claims.principal,
        person: person === undefined ? undefined : await personOf(person, claims.principal, service),
        actor: workflow && { ...workflow, type: 'workflow' },
      })
      return { token: await grants.tokenFor({ ...claims, principal }, audience) }
    },

    /** Signs calls of settings on behalf of a person whom it makes the successor of another. */
    actingAsSuccessor: (principal: Principal, predecessorId: string) => ({
      serviceToken: (audience: string) =>
        grants.tokenFor({ principal, by: 'settings', run: predecessorId, succeeds: true }, audience),
    }),

    /** Signs calls of settings on behalf of the caller, within their request. */
    actingAs: (principal: Principal, requestId: string) => ({
      serviceToken: (audience: string) =>
        grants.tokenFor({ principal, by: 'settings', run: requestId }, audience),
    }),

    /** For each grant of a service, whether it can still be used: its giver is a member and the key used has not ended. */
    async holding(grantsToCheck: readonly string[], service: string): Promise<boolean[]> {
      const isValid = async (grant: string) => {
        try {
          const { principal: giver } = await openOwn(grant, service)
          await carriedPrincipal(db, clock.now(), { giver })
          return true
        } catch (error) {
          if (error instanceof ApiError && error.status < 500) return false
          throw error
        }
      }
      const found: boolean[] = []
      for (const grant of grantsToCheck) found.push(await isValid(grant))
      return found
    },

    /** Revokes a standing grant. Other grants expire by themselves. */
    async revoke(grant: string, service: string): Promise<void> {
      const id = await standingIdOf(grant, service)
      if (id !== undefined) await standingGrantStore.revoke(id)
    },
  }
}
