import { matchesEntityTag } from '../documents/entity-tag.js'
import type { Answer } from '../server/exchange.js'
import { type Route, supportsIfNoneMatch } from './route.js'

/** Returns the response, or 304 if the client already has it. */
export function applyConditionalGet(route: Route, header: string | undefined, answer: Answer): Answer {
  const tag = answer.headers?.ETag
  if (header === undefined || tag === undefined || !supportsIfNoneMatch(route)) return answer
  const { changesUnversioned } = route
  const data = (answer.body as { data?: unknown } | null)?.data
  if (typeof changesUnversioned === 'function' && changesUnversioned(data)) return answer
  return matchesEntityTag(header, tag) ? { status: 304, body: null, headers: { ETag: tag } } : answer
}
