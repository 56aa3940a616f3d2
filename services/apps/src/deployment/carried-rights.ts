import { ApiError, missingPermissionError, type Permission, type TenantScope } from '@opsplane/contracts'
import type { Delegations, RequestMeta } from '@opsplane/http'
import type { Logger } from '@opsplane/runtime'
import type { LoadContents } from './contents.js'
import type { StoredDeployment } from './domain.js'

/** The rights that deployments carry: standing grants of the people who gave them. */
export interface CarriedRights {
  /** By which a deployment acts; null of one from before each had a grant, which is not embeddable either. */
  grantBy(state: StoredDeployment, tenant: TenantScope): Promise<string | null>
  /**
   * Commits what is to carry the caller's rights to just these permissions, and ends the grant of what it replaces, which
   * `commit` names. Throws what `commit` throws.
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

  /** Of a grant that nothing uses any more: it is worth nothing without the key of this service. */
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
        // Whether it was committed is not known of any other failure, and what runs must keep its grant.
        if (error instanceof ApiError && error.status < 500) await end(grant)
        throw error
      })
      const replaced = before && (await grantBy(before, meta.tenant).catch(() => null))
      if (replaced) await end(replaced)
      return committed
    },
  }
}

/** Throws `forbidden` with what the caller lacks of the permissions that a deployment takes. */
export function requireCarriedRights(
  permissions: readonly string[],
  { principal }: Pick<RequestMeta, 'principal'>,
): void {
  const missing = permissions.filter((each) => !principal.permissions.includes(each))
  if (missing.length === 0) return
  const message = `Missing permissions for what the deployment does: ${missing.join(', ')}.`
  throw missingPermissionError(message, missing)
}
