import {
  type AcceptConflicts,
  type AcceptedConflicts,
  ApiError,
  type ChangeConflict,
  type ChangeType,
  type ErrorDetail,
} from '@opsplane/contracts'

/** What stands around a change that is handed in or begun, and what was said to it. */
export interface Clash {
  conflicts: ChangeConflict[]
  acceptance: AcceptConflicts
}

/**
 * Blackouts hold back all but emergencies, unless whoever asks takes them on with a reason, which is what is given
 * back. Other conflicts are shown and hold nothing back. Throws conflict naming every window.
 */
export function checkBlackouts(
  type: ChangeType,
  { conflicts, acceptance }: Clash,
): { acceptedConflicts: AcceptedConflicts } | undefined {
  const blackouts = conflicts.filter(({ kind }) => kind === 'blackout')
  if (blackouts.length === 0 || type === 'emergency') return undefined
  const { acceptConflicts, reason } = acceptance
  if (acceptConflicts && reason !== undefined) return { acceptedConflicts: { reason, conflicts: blackouts } }
  const details = blackouts.slice(0, 10).map((blackout): ErrorDetail => {
    const { with: windowId, from, to, message } = blackout
    return { in: 'body', path: '/acceptConflicts', code: 'blackout', message, params: { windowId, from, to } }
  })
  const message = `${blackouts[0]?.message} Send acceptConflicts with a reason to do so all the same.`
  throw new ApiError('conflict', message, { details })
}
