import { type ProblemAction, type ProblemStatus, problemActions } from '@opsplane/contracts'
import { statusRules, type TransitionTable } from '../transition-rules.js'

type From = TransitionTable<ProblemAction, ProblemStatus>[ProblemAction]

const sameStatusWhileOpen: From = {
  new: ['new'],
  assess: ['assess'],
  root_cause_analysis: ['root_cause_analysis'],
  fix_in_progress: ['fix_in_progress'],
}
const sameStatusUntilClosed: From = { ...sameStatusWhileOpen, resolved: ['resolved'] }

/**
 * All transitions of a problem: per action, the statuses it applies
 * to and the resulting ones. A closed problem can only be reopened.
 */
export const transitions: TransitionTable<ProblemAction, ProblemStatus> = {
  edit: sameStatusUntilClosed,
  assess: { new: ['assess'] },
  analyze: { assess: ['root_cause_analysis'] },
  fix: { root_cause_analysis: ['fix_in_progress'] },
  resolve: { fix_in_progress: ['resolved'] },
  close: { assess: ['closed'], root_cause_analysis: ['closed'], resolved: ['closed'] },
  reopen: { resolved: ['root_cause_analysis'], closed: ['root_cause_analysis'] },
  publish_workaround: sameStatusWhileOpen,
  mark_known_error: sameStatusUntilClosed,
  unmark_known_error: sameStatusUntilClosed,
}

export const { allowedActions, statusAfter } = statusRules(problemActions, transitions)
