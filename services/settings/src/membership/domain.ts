import { ApiError, type Decider, type Decision, type Instant, type UserState } from '@opsplane/contracts'

/** A person in a workspace. Events speak of the user, so `id` (mbr_…) shows nowhere but in the store. */
export interface MembershipState {
  id: string
  userId: string
  email: string
  name: string
  role: string
  status: UserState['status']
  createdAt: Instant
  updatedAt: Instant
}

/** Lets a user in at once, as bootstrap does. */
export interface ActivateMembership {
  kind: 'activate'
  id: string
  userId: string
  email: string
  name: string
  role: string
  now: Instant
}
export type MembershipCommand = ActivateMembership

export const membership: Decider<MembershipState, MembershipCommand, UserState> = {
  resourceType: 'user',
  table: 'memberships',
  decide,
  expose: ({ userId, ...state }) => ({ ...state, id: userId }),
  describe: (state) => ({ id: state.userId, displayName: state.name }),
}

function decide(command: MembershipCommand, state: MembershipState | null): Decision<MembershipState>[] {
  if (state !== null) throw new ApiError('conflict', 'A membership with this id exists already.')
  const { kind: _, now, ...fields } = command
  const after: MembershipState = { ...fields, status: 'active', createdAt: now, updatedAt: now }
  return [{ type: 'user.activated', after }]
}
