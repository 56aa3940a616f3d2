import { ApiError, Rights, type TenantScope } from '@opsplane/contracts'
import type { Delegations, ServiceClient } from '@opsplane/http'
import { z } from 'zod'
import { callerByGrant } from '../query/caller.js'
import type { QueryCaller } from '../query/types.js'

/**
 * The user on whose behalf work continues after a request, limited to the permissions of the credential
 * that made it.
 */
export const Owner = z.object({ userId: z.string(), permissions: z.array(z.string()), grant: z.string() })
export type Owner = z.infer<typeof Owner>

export interface Owners {
  /**
   * Returns the owner with their current permissions. Throws `forbidden` for a former member, and `invalid_token` if
   * the key of the request has been revoked.
   */
  resolveCaller(owner: Owner, tenant: TenantScope): Promise<QueryCaller>
}

export function createOwners({
  settings,
  delegations,
}: {
  settings: Pick<ServiceClient, 'post'>
  delegations: Delegations
}): Owners {
  return {
    async resolveCaller({ userId, permissions, grant }, tenant) {
      const { workspaceId } = tenant
      const question = { workspaceId, userIds: [userId] }
      const issuer = delegations.actingBy(grant)
      const [rights] = await Promise.all([
        settings.post('/internal/rights', question, Rights),
        // Fails if the grant is no longer valid.
        issuer.serviceToken('database-studio', undefined),
      ])
      const ownerRights = rights.permissions[userId]
      if (!ownerRights) throw new ApiError('forbidden', 'Its owner is no longer a member of the workspace.')
      const left = permissions.filter((permission) => ownerRights.includes(permission as never))
      return callerByGrant({ tenant, userId, permissions: left, grant }, delegations)
    },
  }
}
