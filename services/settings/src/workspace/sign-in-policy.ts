import {
  ApiError,
  invalidField,
  type NewSignInPolicy,
  noSignInPolicy,
  notFound,
  type SignInPolicy,
} from '@opsplane/contracts'
import type { Serialized, Transaction } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { inWorkspaceScope } from '../membership/members.js'
import { findRolePermissions } from '../role/role-reader.js'
import { requireSession } from '../session/own-session.js'
import { requireProvenFactor } from '../session/proven-factor.js'
import type { Sessions } from '../session/sessions.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import { workspace } from './domain.js'

export type SignInPolicies = ReturnType<typeof createSignInPolicies>

/** The sign-in policies of workspaces. */
export function createSignInPolicies(
  { store }: Pick<ServiceContext, 'store'>,
  { serialized, sessions }: { serialized: Serialized; sessions: Sessions },
) {
  const workspaces = store.aggregate(workspace)

  const requireRoles = async (tx: Transaction, workspaceId: string, { factorRoles }: NewSignInPolicy) => {
    for (const [index, role] of factorRoles.entries()) {
      if ((await findRolePermissions(tx, workspaceId, role)) !== null) continue
      const path = `/factorRoles/${index}`
      throw invalidField(path, 'unknown_role', `There is no role ${role}. See GET /settings/roles.`)
    }
  }

  return {
    async get({ tenant: { workspaceId } }: RequestMeta): Promise<SignInPolicy> {
      const found = await workspaces.find(workspaceId, workspaceScope(workspaceId))
      if (found === null) throw notFound()
      return found.state.signIn ?? noSignInPolicy
    },

    /**
     * Sets the policy, as an owner in a session that meets it. Throws `forbidden`, `factor_enrolment_required`,
     * `validation_failed`.
     */
    async set(policy: NewSignInPolicy, meta: RequestMeta): Promise<SignInPolicy> {
      const { tokenId, role } = requireSession(meta, 'An API key sets no sign-in policy. Sign in.')
      if (role !== 'owner') throw new ApiError('forbidden', 'Only owners may set the sign-in policy.')
      const requiresFactors = policy.factorRequired || policy.factorRoles.length > 0
      if (requiresFactors) await requireProvenFactor(sessions, tokenId)
      const { workspaceId } = meta.tenant
      const { signIn } = await serialized(inWorkspaceScope(meta), async (unit, tx) => {
        await requireRoles(tx, workspaceId, policy)
        const command = { kind: 'set_sign_in_policy' as const, policy, now: meta.now }
        return unit.handle(workspaces, workspaceId, command)
      })
      return signIn
    },
  }
}
