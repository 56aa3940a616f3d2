import { ApiError, type ChangeEventType, type ChangeState, type Decider } from '@opsplane/contracts'
import type { ChangeCommand } from './commands.js'
import { opened } from './opened.js'

export interface ChangeDecision {
  type: ChangeEventType
  after: ChangeState
  extras?: Record<string, unknown>
}

/** Every rule of a change. Its events are `changeEvents`; which action applies when is `transitions`. */
export const change: Decider<ChangeState, ChangeCommand> = {
  resourceType: 'change',
  table: 'changes',
  decide,
  expose: (state) => state,
  describe: ({ title, number }) => ({ displayName: title, number }),
}

function decide(command: ChangeCommand, state: ChangeState | null): ChangeDecision[] {
  if (state !== null) throw new ApiError('conflict', 'A change with this id exists already.')
  return [{ type: 'change.created', after: opened(command) }]
}
