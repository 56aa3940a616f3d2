import { ApiError, type CommandMeta, type IncidentComment, newId } from '@opsplane/contracts'
import type { Unit } from '@opsplane/eventstore'
import type { RequestMeta } from '@opsplane/http'
import type { ServiceContext } from '@opsplane/service'
import { isDedupKeyConflict } from '../dedup-key.js'
import type { IncidentStore } from '../incident-store.js'
import { commentAfterClosure } from './follow-up.js'

/** Creates a comment by the principal of the request. */
export function newComment(
  incidentId: string,
  body: string,
  visibility: IncidentComment['visibility'],
  { actor, now, principal: { userId } }: RequestMeta,
): IncidentComment {
  const times = { createdAt: now, updatedAt: now }
  return { id: newId('comment'), incidentId, body, visibility, author: actor, userId, ...times }
}

/**
 * Adds a comment to its incident. A comment by the caller reopens a resolved incident,
 * unless another incident with the same dedup key is open; then the incident stays
 * resolved. A comment by the caller on an ended incident goes to a follow-up.
 */
export async function addComment(
  ctx: Pick<ServiceContext, 'store' | 'database'>,
  incidents: IncidentStore,
  comment: IncidentComment,
  meta: CommandMeta,
): Promise<IncidentComment> {
  const { incidentId } = comment
  const { store } = ctx
  const add = (keepResolved: boolean) => {
    const storeComment = async (unit: Unit) => {
      await unit.handle(incidents, incidentId, { kind: 'comment', comment, keepResolved, now: meta.now })
      return comment
    }
    return store.transact(meta, storeComment, { queueKey: incidentId })
  }
  try {
    return await add(false)
  } catch (error) {
    if (isDedupKeyConflict(error)) return add(true)
    if (!(error instanceof ApiError && error.code === 'invalid_state_transition')) throw error
    return commentAfterClosure(ctx, incidents, comment, meta)
  }
}
