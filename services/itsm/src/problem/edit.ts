import { invalidField, type PriorityMatrix, type ProblemPatch, type ProblemState } from '@opsplane/contracts'
import { findPriority } from '../settings/priority-matrix.js'
import { distinct } from './initial-state.js'

/**
 * Returns the fields a PATCH sets. The priority is recomputed if impact or urgency change. A changed workaround counts
 * as unpublished. Throws validation_failed if the patch removes a root cause or workaround that the problem requires.
 */
export function editProblem(
  { ciIds, changeIds, ...patch }: ProblemPatch,
  matrix: PriorityMatrix,
  state: ProblemState,
): Partial<ProblemState> {
  const fields: Partial<ProblemState> = {
    ...withoutUndefined(patch),
    ...(ciIds && { ciIds: distinct(ciIds) }),
    ...(changeIds && { changeIds: distinct(changeIds) }),
  }
  const editedProblem = { ...state, ...fields }
  if (editedProblem.impact !== state.impact || editedProblem.urgency !== state.urgency)
    fields.priority = findPriority(matrix, editedProblem)
  if (editedProblem.workaround !== state.workaround) fields.workaroundPublishedAt = null
  if (state.knownError) checkKnown(editedProblem)
  if (state.resolution === 'fix_applied') checkRootCause(editedProblem)
  return fields
}

/** Throws validation_failed unless root cause and workaround are given. */
export function checkKnown(state: Pick<ProblemState, 'rootCause' | 'workaround'>): void {
  if (!state.workaround)
    throw invalidField('/workaround', 'required', 'A known error needs a workaround; give it one first.')
  if (!state.rootCause)
    throw invalidField('/rootCause', 'required', 'A known error needs a root cause; give it one first.')
}

/** Throws validation_failed if there is no root cause for the fix. */
export function checkRootCause({ rootCause }: Pick<ProblemState, 'rootCause'>): void {
  if (!rootCause)
    throw invalidField('/rootCause', 'required', 'A fix needs a root cause that it mends; give it one first.')
}

function withoutUndefined<T extends object>(fields: T): { [Name in keyof T]: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [Name in keyof T]: Exclude<T[Name], undefined>
  }
}
