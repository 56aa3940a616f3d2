import {
  alreadyExists,
  changedFields,
  type Decider,
  type Decision,
  notFound,
  type ProblemEventType,
  type ProblemState,
} from '@opsplane/contracts'
import { hasEnded } from '../links/problem-link.js'
import type { ProblemCommand } from './commands.js'
import { buildInitialProblem } from './initial-state.js'
import { computeOutcome } from './outcomes.js'
import { statusAfter } from './transitions.js'

/**
 * All rules of a problem. `problemEvents` lists its events;
 * `transitions` defines which action is allowed in which status.
 */
export const problem: Decider<ProblemState, ProblemCommand> = {
  resourceType: 'problem',
  table: 'problems',
  decide,
  expose: (state) => state,
  describe: (state) => ({ displayName: state.title, number: state.number }),
}

function decide(
  command: ProblemCommand,
  state: ProblemState | null,
): Decision<ProblemState, ProblemEventType>[] {
  if (command.kind === 'create') {
    if (state !== null) throw alreadyExists('problem')
    return [{ type: 'problem.created', after: buildInitialProblem(command) }]
  }
  if (state === null) throw notFound()
  if (command.kind === 'report_changes_ended')
    return hasEnded(state)
      ? []
      : [{ type: 'problem.changes_ended', after: state, extras: { endedChanges: command.changes } }]
  const status = statusAfter(command.kind, state.status)
  const { changes, ...outcome } = computeOutcome(command, command.now, state)
  const after = { ...state, ...changes, status }
  if (changedFields(state, after).length === 0) return []
  return [{ ...outcome, after: { ...after, updatedAt: command.now } }]
}
