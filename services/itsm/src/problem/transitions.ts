import { type ProblemAction, type ProblemStatus, problemActions } from '@opsplane/contracts'
import { statusRules, type TransitionTable } from '../transition-rules.js'

type From = TransitionTable<ProblemAction, ProblemStatus>[ProblemAction]

const whileOpen: From = {
  new: ['new'],
  assess: ['assess'],
  root_cause_analysis: ['root_cause_analysis'],
  fix_in_progress: ['fix_in_progress'],
}
const untilClosed: From = { ...whileOpen, resolved: ['resolved'] }

/**
 * All transitions of a problem: per action, the statuses it applies
 * to and the resulting ones. A closed problem can only be reopened.
 */
export const transitions: TransitionTable<ProblemAction, ProblemStatus> = {
  edit: untilClosed,
  assess: { new: ['assess'] },
  analyze: { assess: ['root_cause_analysis'] },
  fix: { root_cause_analysis: ['fix_in_progress'] },
  resolve: { fix_in_progress: ['resolved'] },
  close: { assess: ['closed'], root_cause_analysis: ['closed'], resolved: ['closed'] },
  reopen: { resolved: ['root_cause_analysis'], closed: ['root_cause_analysis'] },
  publish_workaround: whileOpen,
  mark_known_error: untilClosed,
  unmark_known_error: untilClosed,
}

export const { allowedActions, statusAfter } = statusRules(problemActions, transitions)
