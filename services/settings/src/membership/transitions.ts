import { invalidTransition, type MembershipStatus, type UserAction, userActions } from '@opsplane/contracts'

/** State machine of a user in a workspace: for each action, the statuses it applies to and the resulting status. */
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

/** The status after `action` in status `from`. Throws `invalid_state_transition` if the table has no such transition. */
export function statusAfter(action: UserAction, from: MembershipStatus): MembershipStatus {
  const target = transitions[action][from]
  if (target === undefined) throw invalidTransition(action, from, allowedActions(from))
  return target
}
