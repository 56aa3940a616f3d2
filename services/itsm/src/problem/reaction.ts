import {
  type IncidentComment,
  type Instant,
  type PlatformEvent,
  type ProblemState,
  problemEvents,
  systemActor,
} from '@opsplane/contracts'
import type { IncidentStep } from '../incident/steps.js'
import { hasEnded } from '../links/problem-link.js'

/** Effect of a problem's event on its linked incidents. */
export interface Reaction {
  problem: ProblemState
  /** The linked incidents that are changed: all open ones, or those on hold for the problem. */
  reaches: 'open' | 'awaiting'
  /** Whether the reaction still applies. It does not if the problem was reopened in the meantime. */
  holds(current: ProblemState): boolean
  /** Work note for the incident; `null` for none. */
  note: string | null
  step: IncidentStep | null
}

/** The problem events that change linked incidents. */
export const reachingEvents = ['problem.workaround_published', 'problem.resolved', 'problem.closed'] as const

/**
 * Returns the reaction to an event; `null` if it affects no incidents.
 * `original` is the number of the problem that a duplicate refers to.
 */
export function findReaction(event: PlatformEvent, original: string | null): Reaction | null {
  switch (event.type) {
    case 'problem.workaround_published': {
      const problem = stateAfter('problem.workaround_published', event)
      return problem && workaroundReaction(problem)
    }
    case 'problem.resolved': {
      const problem = stateAfter('problem.resolved', event)
      return problem && findEndReaction(problem, original)
    }
    case 'problem.closed': {
      const problem = stateAfter('problem.closed', event)
      // If the problem was resolved before, the incidents were already updated then.
      return problem && event.data.before?.status !== 'resolved' ? findEndReaction(problem, original) : null
    }
    default:
      return null
  }
}

/** Returns the commands for one incident. */
export function toIncidentSteps(
  { note, step }: Reaction,
  ids: Pick<IncidentComment, 'id' | 'incidentId'>,
  now: Instant,
) {
  const steps: IncidentStep[] = []
  if (note !== null) {
    const times = { createdAt: now, updatedAt: now }
    const by = { author: systemActor, userId: null }
    const comment = { ...ids, body: note, visibility: 'internal', ...by, ...times } as const
    steps.push({ kind: 'comment', comment })
  }
  if (step !== null) steps.push(step)
  return steps
}

function stateAfter(type: (typeof reachingEvents)[number], event: PlatformEvent): ProblemState | null {
  return problemEvents[type].data.parse(event.data).after
}

function workaroundReaction(problem: ProblemState): Reaction {
  return {
    problem,
    reaches: 'open',
    holds: (current) => current.workaroundPublishedAt === problem.workaroundPublishedAt,
    note: `Workaround of problem ${problem.number}:\n\n${problem.workaround ?? ''}`,
    step: null,
  }
}

/** Returns the effect of the problem's end on waiting incidents; `null` while it has not ended. */
export function findEndReaction(problem: ProblemState, original: string | null): Reaction | null {
  if (!hasEnded(problem)) return null
  const { number, resolution, resolutionNotes, resolvedAt } = problem
  const common = {
    problem,
    reaches: 'awaiting' as const,
    holds: (current: ProblemState) => current.resolvedAt === resolvedAt,
  }
  const notes = resolutionNotes === null ? '' : `: ${resolutionNotes}`
  if (resolution === 'fix_applied')
    return {
      ...common,
      note: null,
      step: { kind: 'resolve', resolutionCode: 'fixed', resolutionNotes: `Problem ${number}${notes}` },
    }
  const why = {
    risk_accepted: 'its risk was accepted',
    duplicate: `it is a duplicate of ${original ?? 'another problem'}`,
    canceled: 'it was canceled',
  }[resolution ?? 'canceled']
  return {
    ...common,
    note: `Problem ${number} will not be fixed, as ${why}${notes}`,
    step: { kind: 'resume' },
  }
}
