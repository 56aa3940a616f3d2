import type { ChangeEventType, ChangeStatus } from '@opsplane/contracts'

export const changeEndEvents: readonly ChangeEventType[] = [
  'change.completed',
  'change.rolled_back',
  'change.canceled',
  'change.closed',
]

/** Where those events lead: what others wait for has happened, or will not. */
export const endedChangeStatuses: readonly ChangeStatus[] = ['review', 'rolled_back', 'canceled', 'closed']
