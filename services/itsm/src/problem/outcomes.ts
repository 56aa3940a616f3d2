import {
  assertNever,
  type Instant,
  invalidField,
  type ProblemEventType,
  type ProblemState,
} from '@opsplane/contracts'
import type { ProblemStep } from './commands.js'
import { checkKnown, editProblem } from './edit.js'
import { buildResolution, closeProblem } from './resolution.js'

/** The event of an action and the fields it sets in addition to the status. */
export interface Outcome {
  type: ProblemEventType
  changes: Partial<ProblemState>
  extras?: Record<string, unknown>
}

/** Returns the event of an action and the fields it sets. Only the transition table changes the status. */
export function computeOutcome(step: ProblemStep, now: Instant, state: ProblemState): Outcome {
  switch (step.kind) {
    case 'edit':
      return { type: 'problem.updated', changes: editProblem(step.patch, step.matrix, state) }
    case 'assess':
    case 'analyze':
    case 'fix':
      return { type: 'problem.updated', changes: {} }
    case 'resolve':
      return {
        type: 'problem.resolved',
        changes: { ...buildResolution(step.resolution, step, state), resolvedAt: now },
      }
    case 'close':
      return { type: 'problem.closed', changes: closeProblem(step, now, state) }
    case 'reopen':
      return {
        type: 'problem.reopened',
        changes: { ...unresolved, reopenCount: state.reopenCount + 1 },
        extras: { reason: step.reason ?? null },
      }
    case 'publish_workaround':
      return { type: 'problem.workaround_published', changes: published(step.workaround, now, state) }
    case 'mark_known_error':
      checkKnown(state)
      return {
        type: 'problem.known_error',
        changes: state.knownError ? {} : { knownError: true, knownErrorAt: now },
      }
    case 'unmark_known_error':
      return { type: 'problem.updated', changes: { knownError: false, knownErrorAt: null } }
    default:
      return assertNever(step)
  }
}

const unresolved = {
  resolution: null,
  resolutionNotes: null,
  duplicateOf: null,
  resolvedAt: null,
  closedAt: null,
} satisfies Partial<ProblemState>

/** An unchanged workaround that is already published is not published again. */
function published(newText: string | undefined, now: Instant, state: ProblemState): Partial<ProblemState> {
  const workaround = newText ?? state.workaround
  if (!workaround) throw invalidField('/workaround', 'required', 'There is no workaround to publish yet.')
  if (workaround === state.workaround && state.workaroundPublishedAt !== null) return {}
  return { workaround, workaroundPublishedAt: now }
}
