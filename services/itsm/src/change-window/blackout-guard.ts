import {
  type AcceptConflicts,
  type AcceptedConflicts,
  ApiError,
  type ChangeConflict,
  type ChangeType,
  type ErrorDetail,
} from '@opsplane/contracts'

/** The conflicts of a change at its submission or implementation, and the caller's acceptance of them. */
export interface Clash {
  conflicts: ChangeConflict[]
  acceptance: AcceptConflicts
}

/**
 * Blackouts block all changes except emergencies, unless the caller accepts them with a reason; the acceptance is
 * returned. Other conflicts are reported but do not block. Throws conflict naming up to 10 blackouts.
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
  const message = `${blackouts[0]?.message} Send acceptConflicts with a reason to continue anyway.`
  throw new ApiError('conflict', message, { details })
}
