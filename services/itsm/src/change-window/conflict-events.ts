import type { ChangeConflict, ChangeState, ChangeStatus, Instant } from '@opsplane/contracts'
import { changedFields } from '@opsplane/contracts'
import { newConflicts } from './conflicts.js'

/** Statuses of a change that is submitted and not yet implemented: new conflicts can still arise. */
export const pendingStatuses: readonly ChangeStatus[] = ['assess', 'authorize', 'scheduled']

/** Conflicts that the platform recomputed after another change or a window was saved. */
export interface UpdateConflicts {
  kind: 'update_conflicts'
  conflicts: ChangeConflict[]
  now: Instant
}

/** Each new conflict is reported once with its own event type. Removed or shifted conflicts are an ordinary update. */
export function conflictEvents<State extends ChangeState>({ conflicts, now }: UpdateConflicts, state: State) {
  const after = { ...state, conflicts }
  if (!pendingStatuses.includes(state.status) || changedFields(state, after).length === 0) return []
  const fresh = newConflicts(state.conflicts, conflicts)
  const reported = { ...after, updatedAt: now }
  if (fresh.length === 0) return [{ type: 'change.updated' as const, after: reported }]
  return [{ type: 'change.conflict_detected' as const, after: reported, extras: { newConflicts: fresh } }]
}
