import {
  invalidTransition,
  type ProblemAction,
  type ProblemStatus,
  problemActions,
} from '@opsplane/contracts'

type Targets = readonly [ProblemStatus, ...ProblemStatus[]]
type From = Partial<Record<ProblemStatus, Targets>>

const whileOpen: From = {
  new: ['new'],
  assess: ['assess'],
  root_cause_analysis: ['root_cause_analysis'],
  fix_in_progress: ['fix_in_progress'],
}
const untilClosed: From = { ...whileOpen, resolved: ['resolved'] }

/**
 * The whole life of a problem: per action, the statuses it applies to and where each leads. A closed problem can be
 * reopened, and nothing else.
 */
export const transitions: Record<ProblemAction, From> = {
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

export function allowedActions(status: ProblemStatus): ProblemAction[] {
  return problemActions.filter((action) => transitions[action][status] !== undefined)
}

/** The status `action` leads to from `from`. Throws invalid_state_transition where the table has none. */
export function statusAfter(action: ProblemAction, from: ProblemStatus): ProblemStatus {
  const targets = transitions[action][from]
  if (targets === undefined) throw invalidTransition(action, from, allowedActions(from))
  return targets[0]
}
