import { ApiError, type IncidentState } from '@opsplane/contracts'
import type { WatchIncident } from './commands.js'

/** As many as a PATCH takes. */
export const maxWatchers = 100

/** The watchers with or without one more; null when that changes nothing. Throws conflict when there are too many. */
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
