import {
  type Account,
  type CommandMeta,
  type IdentityState,
  newId,
  platformTenant,
  type TenantScope,
} from '@opsplane/contracts'
import type { Serialized, Transaction, Unit } from '@opsplane/eventstore'
import type { ServiceContext } from '@opsplane/service'
import { type AccountState, account } from '../account/domain.js'
import { requireAccount } from '../account/queries.js'
import type { MembershipState } from '../membership/domain.js'
import type { Members } from '../membership/members.js'
import { countOtherOwners, findMember } from '../membership/queries.js'
import { findRolePermissions } from '../role/role-reader.js'
import { workspaceScope } from '../tenant/workspace-scope.js'
import { type Claims, mapClaimsToRole, requireAdmittedAddress } from './claims.js'
import type { StoredProvider } from './domain.js'
import { identity } from './identity.js'
import { findEnabledProvider, findIdentity, isAddressOfMember } from './queries.js'
import { SignInRefused } from './refusal.js'

/** A person authenticated by a provider, as a user of its workspace. */
export interface AdmittedUser {
  account: AccountState
  identityId: string
}

/** Source and time of a sign-in. */
export type SignInContext = Pick<CommandMeta, 'now' | 'requestId' | 'source'>

export interface AdmissionOptions {
  members: Members
  /** Serializes changes within each workspace. */
  serialized: Serialized
  /** Domains, set by the operator, whose people may become users by signing in. */
  domains: readonly string[]
}

export type Admission = ReturnType<typeof createAdmission>

/** Determines the user and the role of a person whom a provider has authenticated. */
export function createAdmission({ store }: Pick<ServiceContext, 'store'>, options: AdmissionOptions) {
  const { members, serialized, domains } = options
  const accounts = store.aggregate(account)
  const identities = store.aggregate(identity)

  const asPerson = (
    { id, name }: Pick<Account, 'id' | 'name'>,
    tenant: TenantScope,
    arrival: SignInContext,
  ) => ({
    ...arrival,
    tenant,
    actor: { id, name, type: 'user' as const },
  })

  const link = (
    unit: Unit,
    userId: string,
    { providerId, claims: { issuer, subject }, now }: { providerId: string; claims: Claims; now: string },
  ): Promise<IdentityState> => {
    const id = newId('identity')
    const fields = { id, userId, providerId, issuer, subject }
    return unit.create(identities, id, { kind: 'link', fields, now })
  }

  const requireRole = async (tx: Transaction, workspaceId: string, role: string): Promise<string> => {
    if ((await findRolePermissions(tx, workspaceId, role)) !== null) return role
    throw new SignInRefused(
      'no_role',
      `Your identity provider gives you the role ${role}, which the workspace does not have any more. Ask an owner of the workspace.`,
    )
  }

  const join = async (
    unit: Unit,
    person: Pick<Account, 'id' | 'name'> & { email: string; addressProven: boolean },
    { role, now }: { role: string; now: string },
  ) => {
    const id = newId('membership')
    const { id: userId, name, email, addressProven } = person
    const fields = { id, userId, email, name, role, addressProven, now }
    await unit.create(members.aggregate, id, { kind: 'activate', ...fields })
  }

  /**
   * Updates the role from the claims, if the provider has a role claim. Only owners may assign or remove the role of an
   * owner.
   */
  const follow = async (
    unit: Unit,
    tx: Transaction,
    state: MembershipState,
    { provider, claims, workspaceId, now }: VerifiedSignIn,
  ) => {
    if (state.status !== 'active') throw notActive(state)
    if (state.role === 'owner' || provider.roleClaim === null) return
    const role = await requireRole(tx, workspaceId, mapClaimsToRole(provider, claims))
    const otherOwners = await countOtherOwners(tx, workspaceId, state.userId)
    await unit.handle(members.aggregate, state.id, { kind: 'patch', patch: { role }, otherOwners, now })
  }

  /** Admits a login that already has the identity; it may be new in the workspace. */
  const enter = async (unit: Unit, tx: Transaction, known: IdentityState, verified: VerifiedSignIn) => {
    const { provider, claims, workspaceId, now } = verified
    const login = await requireAccount(tx, known.userId)
    const found = await findMember(tx, workspaceId, login.id)
    if (found !== null) await follow(unit, tx, found.state, verified)
    else {
      requireAdmittedAddress(claims, listedDomains(provider, domains))
      const role = await requireRole(tx, workspaceId, mapClaimsToRole(provider, claims))
      await join(unit, { ...login, addressProven: login.addressProvenAt !== null }, { role, now })
    }
    return { account: login, identityId: known.id }
  }

  /**
   * Creates a login without its own address. The address claimed by a provider counts only in its workspace, so that a
   * workspace cannot claim the address of another person on the platform.
   */
  const begin = async (unit: Unit, tx: Transaction, id: string, verified: VerifiedSignIn) => {
    const { provider, claims, workspaceId, now } = verified
    const email = requireAdmittedAddress(claims, listedDomains(provider, domains))
    if (await isAddressOfMember(tx, workspaceId, email)) throw addressInUse(email)
    const role = await requireRole(tx, workspaceId, mapClaimsToRole(provider, claims))
    const name = claims.name ?? email
    const login = { id, email: noAddress(id, provider.id), name, passwordHash: null }
    await unit.create(accounts, id, { kind: 'create', ...login, now }, { tenant: platformTenant })
    await join(unit, { id, name, email, addressProven: false }, { role, now })
    const made = await link(unit, id, { providerId: provider.id, claims, now })
    return {
      account: { ...login, addressProvenAt: null, createdAt: now, updatedAt: now },
      identityId: made.id,
    }
  }

  return {
    /** Admits a person to the workspace. Throws `SignInRefused`. */
    async admit(
      { id: providerId }: Pick<StoredProvider, 'id'>,
      workspaceId: string,
      claims: Claims,
      arrival: SignInContext,
    ): Promise<AdmittedUser> {
      const { issuer, subject } = claims
      const fresh = { id: newId('user'), name: claims.name ?? claims.email ?? subject }
      const meta = asPerson(fresh, workspaceScope(workspaceId), arrival)
      return serialized(meta, async (unit, tx) => {
        const provider = await present(tx, providerId)
        const verified = { provider, claims, workspaceId, now: arrival.now }
        const known = await findIdentity(tx, { providerId, issuer, subject })
        return known === null ? begin(unit, tx, fresh.id, verified) : enter(unit, tx, known, verified)
      })
    },

    /**
     * Links an identity to a login. If it belongs to a login without access to the workspace, it is transferred. Throws
     * `SignInRefused`.
     */
    async link(
      { id: providerId }: Pick<StoredProvider, 'id'>,
      workspaceId: string,
      { claims, login }: { claims: Claims; login: Pick<Account, 'id' | 'name'> },
      arrival: SignInContext,
    ): Promise<void> {
      const { issuer, subject } = claims
      const meta = asPerson(login, workspaceScope(workspaceId), arrival)
      // Two transactions, because both changes concern the same subject.
      await serialized(meta, async (unit, tx) => {
        const known = await findIdentity(tx, { providerId, issuer, subject })
        if (known === null || known.userId === login.id) return
        const other = await findMember(tx, workspaceId, known.userId)
        if (other !== null && other.state.status !== 'deactivated') throw identityInUse()
        await unit.handle(identities, known.id, { kind: 'unlink' })
      })
      await serialized(meta, async (unit, tx) => {
        await present(tx, providerId)
        if ((await findIdentity(tx, { providerId, issuer, subject })) !== null) return
        await link(unit, login.id, { providerId, claims, now: arrival.now })
      })
    },
  }
}

interface VerifiedSignIn {
  provider: StoredProvider
  claims: Claims
  workspaceId: string
  now: string
}

/** A placeholder in a domain that cannot exist, in a form that no normalised address has. */
const noAddress = (userId: string, providerId: string): string => `${userId}@${providerId}.invalid`

/** The domains listed by both the workspace and the operator. */
const listedDomains = (provider: Pick<StoredProvider, 'domains'>, listed: readonly string[]): string[] =>
  provider.domains.filter((domain) => listed.includes(domain))

/** The provider may have been disabled since the sign-in began. Throws `SignInRefused`. */
async function present(tx: Transaction, id: string): Promise<StoredProvider> {
  const found = await findEnabledProvider(tx, id)
  if (found !== null) return found.provider
  throw new SignInRefused('provider_refused', 'The workspace no longer allows sign-in with this provider.')
}

function notActive({ status }: MembershipState): SignInRefused {
  const message =
    status === 'invited'
      ? 'You are invited to this workspace: accept the invitation first.'
      : `Your membership of this workspace is ${status}. Ask an owner of the workspace.`
  return new SignInRefused('not_a_member', message)
}

const addressInUse = (email: string) =>
  new SignInRefused(
    'login_exists',
    `A user of this workspace has the address ${email} already. If that is you, sign in as you did so far, and link this identity to your ` +
      'login (POST /auth/identities).',
  )

const identityInUse = () =>
  new SignInRefused(
    'identity_taken',
    'This identity signs another user of the workspace in. That user unlinks it first (DELETE /auth/identities/:id).',
  )
