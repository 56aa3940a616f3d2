import {
  ApiError,
  alreadyExists,
  assertNever,
  type Decider,
  type Decision,
  type Instant,
  notFound,
  type UserPatch,
  type UserState,
} from '@opsplane/contracts'
import { statusAfter } from './transitions.js'

/** An open invitation. Stores only the hash of its token. */
export interface PendingInvitation {
  id: string
  tokenHash: string
  expiresAt: Instant
  /** Whether the token was sent to the person by mail only. */
  mailed: boolean
}

/**
 * A person in a workspace. Events refer to the user, so `id` (mbr_…) is visible only in the store. The same applies
 * to the invitation, which is present while the user is invited.
 */
export interface MembershipState extends UserState {
  userId: string
  invitation?: PendingInvitation
}

interface Person {
  id: string
  userId: string
  email: string
  name: string
  role: string
  /** Whether the address of the login is proven. */
  addressProven: boolean
  now: Instant
}

/** Activates a user immediately, as bootstrap does. */
export interface ActivateMembership extends Person {
  kind: 'activate'
}

/** Invites a new or removed person, or replaces an open invitation. */
export interface InviteMember extends Person {
  kind: 'invite'
  invitation: PendingInvitation
}

export interface AcceptInvitation {
  kind: 'accept'
  tokenHash: string
  /** The name of the person's login. */
  name: string
  /** Whether the address is proven, by the login's history or by this invitation. */
  addressProven: boolean
  now: Instant
}

/** Number of other active owners of the workspace, which must keep at least one owner. */
interface Others {
  otherOwners: number
}

export interface PatchMembership extends Others {
  kind: 'patch'
  patch: UserPatch
  now: Instant
}

export interface RemoveMember extends Others {
  kind: 'remove'
  now: Instant
}

export interface ProveAddress {
  kind: 'prove_address'
  now: Instant
}

export type MembershipCommand =
  | ActivateMembership
  | InviteMember
  | AcceptInvitation
  | PatchMembership
  | RemoveMember
  | ProveAddress

type Decided = Decision<MembershipState> & { after: MembershipState }

export const membership: Decider<MembershipState, MembershipCommand, UserState> = {
  resourceType: 'user',
  table: 'memberships',
  decide,
  expose: ({ userId, invitation: _, ...state }) => ({ ...state, id: userId }),
  describe: (state) => ({ id: state.userId, displayName: state.name }),
}

function decide(command: MembershipCommand, state: MembershipState | null): Decided[] {
  if (command.kind === 'activate') return [activate(command, state)]
  if (command.kind === 'invite') return [invite(command, state)]
  if (state === null) throw notFound()
  switch (command.kind) {
    case 'accept':
      return [accept(command, state)]
    case 'patch':
      return patch(command, state)
    case 'remove':
      return [remove(command, state)]
    case 'prove_address':
      return state.addressProven ? [] : [addressProven(command, state)]
    default:
      return assertNever(command)
  }
}

function activate(command: ActivateMembership, state: MembershipState | null): Decided {
  if (state !== null) throw alreadyExists('membership')
  const { kind: _, now, ...fields } = command
  const after: MembershipState = { ...fields, status: 'active', createdAt: now, updatedAt: now }
  return { type: 'user.activated', after }
}

/** A person who is invited again keeps the id and creation date of the first invitation. */
function invite(command: InviteMember, state: MembershipState | null): Decided {
  if (state?.status === 'active') throw new ApiError('conflict', 'This person is a member already.')
  const status = state === null ? 'invited' : statusAfter('invite', state.status)
  const { kind: _, now, ...fields } = command
  const kept = state === null ? { createdAt: now } : { id: state.id, createdAt: state.createdAt }
  const after: MembershipState = { ...fields, ...kept, status, updatedAt: now }
  return { type: 'user.invited', after, extras: { expiresAt: command.invitation.expiresAt } }
}

function addressProven({ now }: ProveAddress, state: MembershipState): Decided {
  return { type: 'user.address_proven', after: { ...state, addressProven: true, updatedAt: now } }
}

function accept({ tokenHash, name, addressProven, now }: AcceptInvitation, state: MembershipState): Decided {
  const { invitation, ...member } = state
  if (invitation?.tokenHash !== tokenHash || invitation.expiresAt <= now) throw invalidInvitation()
  const status = statusAfter('accept', state.status)
  const after = { ...member, name, status, addressProven, updatedAt: now }
  return { type: 'user.activated', after }
}

/** Changes first the role, then the status, with one event each. */
function patch({ patch: wanted, otherOwners, now }: PatchMembership, state: MembershipState): Decided[] {
  const decided = [changeRole(wanted.role, now, state)]
  decided.push(changeStatus(wanted.status, now, decided[0]?.after ?? state))
  const decisions = decided.filter((decision) => decision !== null)
  keepAnOwner(state, decisions.at(-1)?.after ?? state, otherOwners)
  return decisions
}

function changeRole(role: string | undefined, now: Instant, state: MembershipState): Decided | null {
  if (role === undefined || role === state.role) return null
  const status = statusAfter('change_role', state.status)
  return { type: 'user.role_changed', after: { ...state, role, status, updatedAt: now } }
}

function changeStatus(
  targetStatus: UserPatch['status'],
  now: Instant,
  state: MembershipState,
): Decided | null {
  if (targetStatus === undefined || targetStatus === state.status) return null
  const action = targetStatus === 'active' ? 'reactivate' : 'suspend'
  const after = { ...state, status: statusAfter(action, state.status), updatedAt: now }
  return { type: action === 'reactivate' ? 'user.reactivated' : 'user.suspended', after }
}

function remove({ otherOwners, now }: RemoveMember, { invitation: _, ...state }: MembershipState): Decided {
  const after = { ...state, status: statusAfter('remove', state.status), updatedAt: now }
  keepAnOwner(state, after, otherOwners)
  return { type: 'user.deactivated', after }
}

function keepAnOwner(before: MembershipState, after: MembershipState, otherOwners: number): void {
  if (otherOwners > 0 || !isActiveOwner(before) || isActiveOwner(after)) return
  const message = 'This is the last active owner. Make another user an owner first.'
  throw new ApiError('conflict', message, {
    details: [{ in: 'body', path: '', code: 'last_owner', message }],
  })
}

const isActiveOwner = ({ role, status }: MembershipState) => role === 'owner' && status === 'active'

/** The error is the same for invitations that were never issued, expired, used or replaced. */
export function invalidInvitation(): ApiError {
  return new ApiError(
    'invalid_token',
    'The invitation is not valid: it has been used, replaced, or has ended.',
  )
}
