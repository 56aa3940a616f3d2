import { ApiError, type IncidentState } from '@opsplane/contracts'
import type { WatchIncident } from './commands.js'

/** The same limit as in a PATCH. */
export const maxWatchers = 100

/**
 * Returns the watchers after adding or removing the user; `null`
 * if nothing changes. Throws conflict if there are too many.
 */
export function updateWatchers(
  { userId, watching }: Pick<WatchIncident, 'userId' | 'watching'>,
  { watcherIds }: IncidentState,
) {
  if (watching === watcherIds.includes(userId)) return null
  if (!watching) return { watcherIds: watcherIds.filter((id) => id !== userId) }
  if (watcherIds.length >= maxWatchers)
    throw new ApiError('conflict', `An incident has at most ${maxWatchers} watchers.`)
  return { watcherIds: [...watcherIds, userId] }
}
