import { ApiError, type TenantScope } from '@opsplane/contracts'
import type { Delegations, RequestMeta } from '@opsplane/http'
import type { QueryCaller } from './types.js'

/** Maximum duration of a query, in seconds. */
const grantSeconds = 60

/** The caller of a request, with the permissions of that request. */
export function toCaller(
  meta: Pick<RequestMeta, 'tenant' | 'principal' | 'clientToken'>,
  delegations: Pick<Delegations, 'delegate' | 'actingBy'>,
): QueryCaller {
  const { tenant, principal } = meta
  let issuer: ReturnType<QueryCaller['studio']> | undefined
  const delegate = async () => {
    const run = `query/${principal.userId}`
    const { grant } = await delegations.delegate(meta, { run, expiresInSeconds: grantSeconds })
    return delegations.actingBy(grant)
  }
  return {
    tenant,
    userId: principal.userId,
    permissions: principal.permissions,
    studio() {
      issuer ??= delegate()
      return issuer
    },
  }
}

/** The caller of work without a request, such as an export or a schedule: the person who issued the grant. */
export const callerByGrant = (
  person: { tenant: TenantScope; userId: string; permissions: readonly string[]; grant: string | null },
  delegations: Pick<Delegations, 'actingBy'>,
): QueryCaller => ({
  tenant: person.tenant,
  userId: person.userId,
  permissions: person.permissions,
  async studio() {
    if (person.grant !== null) return delegations.actingBy(person.grant)
    throw new ApiError('forbidden', 'Tables cannot be read without a grant of the owner.')
  },
})
