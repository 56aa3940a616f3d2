import { alreadyExists, type ChangeState, type Decider, notFound } from '@opsplane/contracts'
import { voidApproval } from '../approval/approval.js'
import { checkBlackouts } from '../change-window/blackout-guard.js'
import { conflictEvents } from '../change-window/conflict-events.js'
import { approve, reject, submit } from './approval/approval-actions.js'
import { checkImplementer } from './approval/approval-record.js'
import {
  addImplementer,
  type ChangeRecord,
  checkReviewer,
  exposeChange,
} from './approval/separation-of-duties.js'
import type { ChangeCommand, CommandOf } from './commands.js'
import type { ChangeDecision } from './decision.js'
import { edit } from './editing.js'
import { buildInitialChange } from './initial-state.js'
import { statusAfter } from './transitions.js'

/**
 * All rules of a change. `changeEvents` lists its events;
 * `transitions` defines which action is allowed in which status.
 */
export const change: Decider<ChangeRecord, ChangeCommand, ChangeState> = {
  resourceType: 'change',
  table: 'changes',
  decide,
  expose: exposeChange,
  describe: ({ title, number }) => ({ displayName: title, number }),
}

function decide(command: ChangeCommand, state: ChangeRecord | null): ChangeDecision[] {
  if (command.kind === 'create') {
    if (state !== null) throw alreadyExists('change')
    return [{ type: 'change.created', after: buildInitialChange(command) }]
  }
  if (state === null) throw notFound()
  switch (command.kind) {
    case 'update_conflicts':
      return conflictEvents(command, state)
    case 'edit':
      return edit(command, state)
    case 'submit':
      return [submit(command, state)]
    case 'approve':
      return approve(command, state)
    case 'reject':
      return reject(command, state)
    case 'complete':
      return complete(command, state)
    case 'close':
      return [close(command, state)]
    default:
      return [applyAction(command, state)]
  }
}

/** Actions that change the status and a few fields. */
function applyAction(
  command: CommandOf<'implement' | 'rollback' | 'cancel' | 'hold' | 'resume'>,
  state: ChangeRecord,
): ChangeDecision {
  const { kind, now } = command
  const after = { ...state, status: statusAfter(kind, state), updatedAt: now }
  switch (kind) {
    case 'implement': {
      checkImplementer(state, command.userId)
      const extras = command.clash && checkBlackouts(state.type, command.clash)
      const begun = { ...after, implementerIds: addImplementer(state, command.userId), actualStart: now }
      return { type: 'change.implementation_started', after: begun, ...(extras && { extras }) }
    }
    case 'rollback': {
      const endFields = {
        actualEnd: state.actualEnd ?? now,
        closeNotes: command.closeNotes ?? state.closeNotes,
      }
      const implementerIds = addImplementer(state, command.userId)
      return {
        type: 'change.rolled_back',
        after: { ...after, ...endFields, implementerIds, outcome: 'unsuccessful' },
      }
    }
    case 'cancel': {
      const reason = command.reason ?? null
      const approvals = state.approvals.map((approval) => voidApproval(approval, now))
      const canceledChange = { ...after, approvals, onHold: false, holdReason: null, cancelReason: reason }
      return { type: 'change.canceled', after: canceledChange, extras: { reason } }
    }
    case 'hold': {
      const holdFields = { onHold: true, holdReason: command.reason, ...recordImplementer(command, state) }
      return { type: 'change.updated', after: { ...after, ...holdFields } }
    }
    case 'resume': {
      const resumed = { onHold: false, holdReason: null, ...recordImplementer(command, state) }
      return { type: 'change.updated', after: { ...after, ...resumed } }
    }
  }
}

/** A user who pauses or resumes a change during implementation counts as an implementer, but not before it. */
const recordImplementer = ({ userId }: { userId: string }, state: ChangeRecord) =>
  state.status === 'implementing' && { implementerIds: addImplementer(state, userId) }

/** A successful standard change needs no review, because its procedure was agreed on beforehand. */
function complete(
  { userId, outcome, closeNotes, now }: CommandOf<'complete'>,
  state: ChangeRecord,
): ChangeDecision[] {
  const status = statusAfter('complete', state)
  checkImplementer(state, userId)
  const after: ChangeRecord = {
    ...state,
    status,
    implementerIds: addImplementer(state, userId),
    outcome,
    closeNotes: closeNotes ?? state.closeNotes,
    actualEnd: now,
    updatedAt: now,
  }
  const decision: ChangeDecision = { type: 'change.completed', after }
  if (state.type !== 'standard' || outcome !== 'successful') return [decision]
  return [decision, { type: 'change.closed', after: { ...after, status: statusAfter('close', after) } }]
}

/** An implementer may not review the change. */
function close({ userId, reviewNotes, now }: CommandOf<'close'>, state: ChangeRecord): ChangeDecision {
  const status = statusAfter('close', state)
  checkReviewer(state, userId)
  const notes = reviewNotes ?? state.reviewNotes
  return { type: 'change.closed', after: { ...state, status, reviewNotes: notes, updatedAt: now } }
}
