import {
  type Instant,
  invalidField,
  notFound,
  type TenantScope,
  type User,
  type UserPatch,
} from '@opsplane/contracts'
import { preconditionFailed, type Serialized, type Transaction, type Unit } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { dropInvitationMail } from '../mail/mail-queue.js'
import { requireAuthority } from '../rights/authority.js'
import { findRolePermissions } from '../role/role-reader.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import { token } from '../token/domain.js'
import { requireEveryEnvironment } from '../token/key-environments.js'
import { listUnrevokedKeys } from '../token/queries.js'
import { type MembershipState, membership } from './domain.js'
import { countOtherOwners, findMember, listUnprovenMemberships, type Member } from './queries.js'
import { allowedActions } from './transitions.js'

export type Members = ReturnType<typeof createMembers>

/** The users of a workspace. Changes are serialized, so that the last owner cannot be removed. */
export function createMembers(
  { store, database: { db } }: Pick<ServiceContext, 'store' | 'database'>,
  serialized: Serialized,
) {
  const memberships = store.aggregate(membership, { present })
  const keys = store.aggregate(token)

  /** The member, and the number of other active owners. */
  const prepared = async (userId: string, meta: RequestMeta, tx: Transaction) => {
    const { state, version } = await memberToChange(tx, meta, userId)
    return { state, version, otherOwners: await countOtherOwners(tx, meta.tenant.workspaceId, userId) }
  }

  return {
    aggregate: memberships,
    present: memberships.present,

    async get(userId: string, { workspaceId }: TenantScope): Promise<User> {
      const found = await findMember(db, workspaceId, userId)
      if (found === null) throw notFound()
      return present(found.state, found.version)
    },

    /** Requires an active member with no more permissions than the caller. Throws `not_found` and `forbidden`. */
    requireCharge: (userId: string, meta: RequestMeta): Promise<void> =>
      db.transaction(async (tx) => {
        const { state } = await memberToChange(tx, meta, userId)
        if (state.status !== 'active') throw notFound()
      }),

    /** Requires a member whom the caller may change. Throws `not_found` and `forbidden`. */
    requireChange: (userId: string, meta: RequestMeta): Promise<void> =>
      db.transaction(async (tx) => void (await memberToChange(tx, meta, userId))),

    /** Requires a member whom the caller could remove now. Throws the errors of `remove`. */
    requireRemovable: (userId: string, meta: RequestMeta): Promise<void> =>
      db.transaction(async (tx) => {
        const { state, version, otherOwners } = await prepared(userId, meta, tx)
        if (meta.expectedVersion !== undefined && meta.expectedVersion !== version)
          throw preconditionFailed(version)
        membership.decide({ kind: 'remove', otherOwners, now: meta.now }, state)
      }),

    patch: (userId: string, patch: UserPatch, meta: RequestMeta): Promise<User> =>
      serialized(inWorkspaceScope(meta), async (unit, tx) => {
        const { state, otherOwners } = await prepared(userId, meta, tx)
        if (patch.role !== undefined && patch.role !== state.role) await requireGrant(tx, meta, patch.role)
        const command = { kind: 'patch' as const, patch, otherOwners, now: meta.now }
        return unit.handle(memberships, state.id, command)
      }),

    remove: (userId: string, meta: RequestMeta): Promise<User> =>
      serialized(inWorkspaceScope(meta), async (unit, tx) => {
        const { state, otherOwners } = await prepared(userId, meta, tx)
        const { now } = meta
        await dropInvitationMail(tx, state.invitation?.id)
        const removed = await unit.handle(memberships, state.id, { kind: 'remove', otherOwners, now })
        // Revoked permanently: a person who returns later does not regain forgotten keys.
        for (const id of await listUnrevokedKeys(tx, workspaceScope(meta.tenant.workspaceId), userId)) {
          await unit.handle(keys, id, { kind: 'revoke', reason: 'user_removed', now })
        }
        return removed
      }),
  }
}

/** A member whom the caller may change. Throws `not_found` and `forbidden`. */
async function memberToChange(tx: Transaction, meta: RequestMeta, userId: string): Promise<Member> {
  const { workspaceId } = meta.tenant
  const found = await findMember(tx, workspaceId, userId)
  if (found === null) throw notFound()
  await requireRank(tx, meta, found.state)
  return found
}

/** The caller cannot change a member who has more permissions. Throws `forbidden`. */
export async function requireRank(
  tx: Transaction,
  meta: RequestMeta,
  { role }: MembershipState,
): Promise<void> {
  await requireEveryEnvironment(tx, meta.principal)
  const allowed = await findRolePermissions(tx, meta.tenant.workspaceId, role)
  requireAuthority(meta.principal.permissions, allowed ?? [])
}

/**
 * Requires that the role exists and grants no permission that the caller lacks. Throws `validation_failed` and
 * `forbidden`.
 */
export async function requireGrant(tx: Transaction, meta: RequestMeta, role: string): Promise<void> {
  await requireEveryEnvironment(tx, meta.principal)
  const allowed = await findRolePermissions(tx, meta.tenant.workspaceId, role)
  if (allowed === null)
    throw invalidField('/role', 'unknown_role', `There is no role ${role}. See GET /settings/roles.`)
  requireAuthority(meta.principal.permissions, allowed)
}

function present(state: MembershipState, version: number): User {
  const invitationExpiresAt = state.invitation?.expiresAt ?? null
  return {
    ...membership.expose(state),
    invitationExpiresAt,
    version,
    allowedActions: allowedActions(state.status),
  }
}

/** Records in every workspace of this user that their address is proven. */
export async function proveMemberships(
  unit: Unit,
  tx: Transaction,
  memberships: Members['aggregate'],
  userId: string,
  now: Instant,
): Promise<void> {
  for (const { id, workspaceId } of await listUnprovenMemberships(tx, userId)) {
    await unit.handle(
      memberships,
      id,
      { kind: 'prove_address', now },
      { tenant: workspaceScope(workspaceId) },
    )
  }
}

/** Rescopes the request, because members belong to the workspace as a whole. */
export function inWorkspaceScope(meta: RequestMeta): RequestMeta {
  return { ...meta, tenant: workspaceScope(meta.tenant.workspaceId) }
}
