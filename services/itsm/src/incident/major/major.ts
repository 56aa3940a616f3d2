import {
  type Actor,
  ApiError,
  type IncidentState,
  type Instant,
  invalidTransition,
  type MajorAction,
  type MajorState,
  majorActions,
} from '@opsplane/contracts'
import type { TransitionTable } from '../../transition-rules.js'

/** All transitions of the major state: per action, the states it applies to and the resulting one. */
export const majorTransitions: TransitionTable<MajorAction, MajorState> = {
  propose: { none: ['proposed'], rejected: ['proposed'], demoted: ['proposed'] },
  accept: { proposed: ['accepted'] },
  reject: { proposed: ['rejected'] },
  demote: { accepted: ['demoted'] },
}

/** One action of the table. `userId` is the acting person; for an API key, its owner. */
export interface MajorCommand {
  kind: 'major'
  action: MajorAction
  by: Actor
  userId: string
  reason?: string | undefined
  now: Instant
}

type MajorTransitionState = Pick<IncidentState, 'status' | 'majorState'>

const hasEnded = ({ status }: MajorTransitionState) => status === 'closed' || status === 'canceled'

/** Returns no actions for an incident that has ended. */
export function allowedMajorActions(state: MajorTransitionState): MajorAction[] {
  if (hasEnded(state)) return []
  return majorActions.filter((action) => majorTransitions[action][state.majorState] !== undefined)
}

/** Applies one action. Throws invalid_state_transition, or forbidden if a person accepts their own proposal. */
export function decideMajor({ action, by, userId, reason = null, now }: MajorDecision, state: IncidentState) {
  const allowed = allowedMajorActions(state)
  const [to] = majorTransitions[action][state.majorState] ?? []
  const from = hasEnded(state) ? state.status : state.majorState
  if (to === undefined || !allowed.includes(action)) throw invalidTransition(action, from, allowed)
  if (action === 'accept' && state.majorProposal?.userId === userId)
    throw new ApiError('forbidden', 'The proposer of a major incident cannot accept it.')
  const majorProposal = action === 'propose' ? { by, userId, reason, at: now } : state.majorProposal
  return {
    type: 'incident.major_changed' as const,
    after: { ...state, majorState: to, majorProposal, updatedAt: now },
    extras: { from: state.majorState, to, reason },
  }
}

type MajorDecision = Omit<MajorCommand, 'reason'> & { reason?: string | null | undefined }
