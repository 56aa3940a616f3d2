import type { ChangeEventType, ChangeStatus } from '@opsplane/contracts'

export const changeEndEvents: readonly ChangeEventType[] = [
  'change.completed',
  'change.rolled_back',
  'change.canceled',
  'change.closed',
]

/** Statuses that those events lead to: the change that others wait for has been made or will not be. */
export const endedChangeStatuses: readonly ChangeStatus[] = ['review', 'rolled_back', 'canceled', 'closed']
