import { invalidField, type ProblemResolution, type ProblemState } from '@opsplane/contracts'
import type { ProblemEnd } from './commands.js'
import { checkRootCause } from './edit.js'

/**
 * Returns the fields a resolution sets. Throws validation_failed
 * if a required field is missing or a field is not allowed.
 */
export function buildResolution(
  resolution: ProblemResolution,
  { resolutionNotes, duplicateOf }: ProblemEnd,
  state: ProblemState,
): Partial<ProblemState> {
  if (resolution === 'fix_applied') checkRootCause(state)
  if ((resolution === 'fix_applied' || resolution === 'risk_accepted') && resolutionNotes === undefined)
    throw invalidField('/resolutionNotes', 'required', `The resolution ${resolution} needs notes.`)
  if (resolution === 'duplicate' && duplicateOf === undefined)
    throw invalidField('/duplicateOf', 'required', 'A duplicate names the problem to follow instead.')
  if (resolution !== 'duplicate' && duplicateOf !== undefined)
    throw invalidField('/duplicateOf', 'not_duplicate', 'Only a duplicate names another problem.')
  if (duplicateOf === state.id)
    throw invalidField('/duplicateOf', 'same_problem', 'A problem is no duplicate of itself.')
  return { resolution, resolutionNotes: resolutionNotes ?? null, duplicateOf: duplicateOf ?? null }
}

/**
 * Returns the fields that closing sets. A resolved problem keeps its
 * resolution; any other gets one, which cannot be `fix_applied`.
 */
export function closeProblem(end: ProblemEnd, now: string, state: ProblemState): Partial<ProblemState> {
  if (state.status === 'resolved') {
    const resolutionField = (['resolution', 'resolutionNotes', 'duplicateOf'] as const).find(
      (name) => end[name] !== undefined,
    )
    if (resolutionField !== undefined)
      throw invalidField(`/${resolutionField}`, 'already_resolved', 'The problem has its resolution already.')
    return { closedAt: now }
  }
  const { resolution } = end
  if (resolution === undefined)
    throw invalidField(
      '/resolution',
      'required',
      'Closing a problem that is not resolved needs a resolution.',
    )
  if (resolution === 'fix_applied')
    throw invalidField('/resolution', 'not_fixed', 'A fix is resolved first, from fix_in_progress.')
  return { ...buildResolution(resolution, end, state), resolvedAt: now, closedAt: now }
}
