import { invalidTransition, type MembershipStatus, type UserAction, userActions } from '@opsplane/contracts'

/** The whole life of a user in a workspace: per action, the statuses it applies to and where each leads. */
export const transitions: Record<UserAction, Partial<Record<MembershipStatus, MembershipStatus>>> = {
  invite: { invited: 'invited', deactivated: 'invited' },
  accept: { invited: 'active' },
  change_role: { invited: 'invited', active: 'active', suspended: 'suspended' },
  suspend: { active: 'suspended' },
  reactivate: { suspended: 'active' },
  remove: { invited: 'deactivated', active: 'deactivated', suspended: 'deactivated' },
}

export function allowedActions(status: MembershipStatus): UserAction[] {
  return userActions.filter((action) => transitions[action][status] !== undefined)
}

/** The status `action` leads to from `from`. Throws invalid_state_transition where the table has none. */
export function statusAfter(action: UserAction, from: MembershipStatus): MembershipStatus {
  const target = transitions[action][from]
  if (target === undefined) throw invalidTransition(action, from, allowedActions(from))
  return target
}
