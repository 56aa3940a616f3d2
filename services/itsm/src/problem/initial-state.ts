import type { ProblemState } from '@opsplane/contracts'
import { findPriority } from '../settings/priority-matrix.js'
import type { CreateProblem } from './commands.js'

/** Returns a new problem with no history. */
export function buildInitialProblem({ id, number, by, now, input, matrix }: CreateProblem): ProblemState {
  return {
    id,
    number,
    title: input.title,
    description: input.description ?? null,
    status: 'new',
    impact: input.impact,
    urgency: input.urgency,
    priority: findPriority(matrix, input),
    assigneeId: input.assigneeId ?? null,
    assignmentGroup: input.assignmentGroup ?? null,
    category: input.category ?? null,
    ciIds: distinct(input.ciIds),
    changeIds: distinct(input.changeIds),
    symptoms: input.symptoms ?? null,
    rootCause: input.rootCause ?? null,
    workaround: input.workaround ?? null,
    workaroundPublishedAt: null,
    knownError: false,
    knownErrorAt: null,
    resolution: null,
    resolutionNotes: null,
    duplicateOf: null,
    resolvedAt: null,
    closedAt: null,
    reopenCount: 0,
    tags: input.tags,
    createdBy: by,
    createdAt: now,
    updatedAt: now,
  }
}

export const distinct = (ids: readonly string[]): string[] => [...new Set(ids)]
