import {
  type Actor,
  defaultPriorityMatrix as matrix,
  type ProblemAction,
  type ProblemState,
  type ProblemStatus,
} from '@opsplane/contracts'
import type { CreateProblem, ProblemStep } from './commands.js'
import { problem } from './domain.js'

/** Sample problems, each built by applying commands. */

export const createdAt = '2026-03-02T09:00:00.000Z'
export const now = '2026-03-02T10:00:00.000Z'
export const agent: Actor = { id: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', name: 'Ada', type: 'user' }
export const otherId = 'prb_01JZ8Q4D3N5W7X9Y2B4C6D8E0G'

export const create: CreateProblem = {
  kind: 'create',
  id: 'prb_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
  number: 'PRB-1',
  by: agent,
  now: createdAt,
  matrix,
  input: {
    title: 'Connections leak under load',
    impact: 'medium',
    urgency: 'medium',
    ciIds: [],
    changeIds: [],
    rootCause: 'The pool keeps broken connections.',
    workaround: 'Restart every hour.',
    tags: [],
  },
}

/** One sample of each action, for an open problem. */
export const steps: { [Action in ProblemAction]: ProblemStep & { kind: Action } } = {
  edit: { kind: 'edit', patch: { title: 'Connections leak' }, matrix },
  assess: { kind: 'assess' },
  analyze: { kind: 'analyze' },
  fix: { kind: 'fix' },
  resolve: { kind: 'resolve', resolution: 'fix_applied', resolutionNotes: 'They are returned.' },
  close: { kind: 'close', resolution: 'canceled' },
  reopen: { kind: 'reopen', reason: 'It happens again.' },
  publish_workaround: { kind: 'publish_workaround', workaround: 'Restart every other hour.' },
  mark_known_error: { kind: 'mark_known_error' },
  unmark_known_error: { kind: 'unmark_known_error' },
}

export function after(...path: ProblemStep[]): ProblemState {
  let state = problem.decide(create, null).at(-1)?.after ?? null
  for (const step of path) state = problem.decide({ ...step, now: createdAt }, state).at(-1)?.after ?? null
  if (state === null) throw new Error('The path leads nowhere.')
  return state
}

const { assess, analyze, fix, resolve } = steps

export const problems: Record<ProblemStatus, ProblemState> = {
  new: after(),
  assess: after(assess),
  root_cause_analysis: after(assess, analyze),
  fix_in_progress: after(assess, analyze, fix),
  resolved: after(assess, analyze, fix, resolve),
  closed: after(assess, analyze, fix, resolve, { kind: 'close' }),
}
