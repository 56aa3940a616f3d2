import { ApiError, missingPermissionError, type Permission, type TenantScope } from '@opsplane/contracts'
import type { Delegations, RequestMeta } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import type { LoadContents } from './contents.js'
import type { StoredDeployment } from './domain.js'

/** The rights that deployments carry: standing grants of the people who gave them. */
export interface CarriedRights {
  /**
   * The grant a deployment acts with; `null` for a deployment stored before each had a grant, which is not embeddable
   * either.
   */
  grantBy(state: StoredDeployment, tenant: TenantScope): Promise<string | null>
  /**
   * Obtains a standing grant that lends the caller's rights, limited to these permissions, and commits with it. Then
   * revokes the grant of the replaced deployment, which `commit` reports through `replaces`. Throws what `commit`
   * throws.
   */
  give<Committed>(
    run: { id: string; permissions: Permission[] },
    meta: RequestMeta,
    commit: (grant: string, replaces: (before: StoredDeployment | undefined) => void) => Promise<Committed>,
  ): Promise<Committed>
}

export function createCarriedRights(
  { delegate, revoke }: Pick<Delegations, 'delegate' | 'revoke'>,
  { load, log }: { load: LoadContents; log: Logger },
): CarriedRights {
  const grantBy: CarriedRights['grantBy'] = async (state, tenant) =>
    state.grant ?? (await load(state.id, tenant)).grant

  /**
   * Revokes a grant that nothing uses any more. A failure is harmless: the grant is worthless without the key of this
   * service.
   */
  const end = (grant: string) =>
    revoke(grant).catch((err: unknown) =>
      log.warn({ err }, 'a standing grant could not be revoked; nothing uses it any more'),
    )

  return {
    grantBy,
    async give({ id, permissions }, meta, commit) {
      const { grant } = await delegate(meta, { run: id, permissions, expiresInSeconds: null })
      let before: StoredDeployment | undefined
      const replaces = (found: StoredDeployment | undefined) => {
        before = found
      }
      const committed = await commit(grant, replaces).catch(async (error: unknown) => {
        // Any other failure leaves open whether the commit happened, and the running deployment must keep its grant.
        if (error instanceof ApiError && error.status < 500) await end(grant)
        throw error
      })
      const replaced = before && (await grantBy(before, meta.tenant).catch(() => null))
      if (replaced) await end(replaced)
      return committed
    },
  }
}

/** Throws `forbidden` with the permissions of a deployment that the caller lacks. */
export function requireCarriedRights(
  permissions: readonly string[],
  { principal }: Pick<RequestMeta, 'principal'>,
): void {
  const missing = permissions.filter((each) => !principal.permissions.includes(each))
  if (missing.length === 0) return
  const message = `Missing permissions for what the deployment does: ${missing.join(', ')}.`
  throw missingPermissionError(message, missing)
}
