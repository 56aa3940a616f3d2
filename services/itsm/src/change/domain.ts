import { ApiError, type ChangeEventType, type ChangeState, type Decider, notFound } from '@opsplane/contracts'
import { voided } from '../approval/approval.js'
import { approved, rejected, submitted } from './approving.js'
import type { ChangeCommand, CommandOf } from './commands.js'
import { edited } from './editing.js'
import { opened } from './opened.js'
import { statusAfter } from './transitions.js'

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
  if (command.kind === 'create') {
    if (state !== null) throw new ApiError('conflict', 'A change with this id exists already.')
    return [{ type: 'change.created', after: opened(command) }]
  }
  if (state === null) throw notFound()
  switch (command.kind) {
    case 'edit':
      return edited(command, state)
    case 'submit':
      return [submitted(command, state)]
    case 'approve':
      return approved(command, state)
    case 'reject':
      return rejected(command, state)
    case 'complete':
      return completed(command, state)
    case 'close':
      return [closed(command, state)]
    default:
      return [moved(command, state)]
  }
}

/** The actions that move the change and set a field or two. */
function moved(
  command: CommandOf<'implement' | 'rollback' | 'cancel' | 'hold' | 'resume'>,
  state: ChangeState,
): ChangeDecision {
  const { kind, now } = command
  const after = { ...state, status: statusAfter(kind, state), updatedAt: now }
  switch (kind) {
    case 'implement':
      return { type: 'change.implementation_started', after: { ...after, actualStart: now } }
    case 'rollback': {
      const ended = { actualEnd: state.actualEnd ?? now, closeNotes: command.closeNotes ?? state.closeNotes }
      return { type: 'change.rolled_back', after: { ...after, ...ended, outcome: 'unsuccessful' } }
    }
    case 'cancel': {
      const reason = command.reason ?? null
      const approvals = state.approvals.map((approval) => voided(approval, now))
      const ended = { ...after, approvals, onHold: false, holdReason: null, cancelReason: reason }
      return { type: 'change.canceled', after: ended, extras: { reason } }
    }
    case 'hold':
      return { type: 'change.updated', after: { ...after, onHold: true, holdReason: command.reason } }
    case 'resume':
      return { type: 'change.updated', after: { ...after, onHold: false, holdReason: null } }
  }
}

/** A standard change that went well needs no review: how it goes was agreed on beforehand. */
function completed(
  { outcome, closeNotes, now }: CommandOf<'complete'>,
  state: ChangeState,
): ChangeDecision[] {
  const after: ChangeState = {
    ...state,
    status: statusAfter('complete', state),
    outcome,
    closeNotes: closeNotes ?? state.closeNotes,
    actualEnd: now,
    updatedAt: now,
  }
  const decision: ChangeDecision = { type: 'change.completed', after }
  if (state.type !== 'standard' || outcome !== 'successful') return [decision]
  return [decision, { type: 'change.closed', after: { ...after, status: statusAfter('close', after) } }]
}

/** Whoever carried it out does not review it. */
function closed({ userId, reviewNotes, now }: CommandOf<'close'>, state: ChangeState): ChangeDecision {
  const status = statusAfter('close', state)
  if (userId === state.assigneeId)
    throw new ApiError('forbidden', 'Somebody other than the assignee must review the change.')
  const notes = reviewNotes ?? state.reviewNotes
  return { type: 'change.closed', after: { ...state, status, reviewNotes: notes, updatedAt: now } }
}
