import type { Answer } from '../server/exchange.js'
import { type Route, takesIfNoneMatch } from './route.js'

/** The answer, or 304 when the client has it already. */
export function unlessSeen(route: Route, header: string | undefined, answer: Answer): Answer {
  const tag = answer.headers?.ETag
  if (header === undefined || tag === undefined || !takesIfNoneMatch(route)) return answer
  return names(header, tag) ? { status: 304, body: null, headers: { ETag: tag } } : answer
}

/** Weak comparison, as RFC 9110 asks for here. */
function names(header: string, tag: string): boolean {
  if (header.trim() === '*') return true
  return header.split(',').some((part) => part.trim().replace(/^W\//, '') === tag)
}
