import type { StoredResponse } from '@opsplane/contracts'
import type { ListPage } from '../route/list.js'
import type { Route } from '../route/route.js'
import type { Answer } from './exchange.js'

/** The response to a handler's return value. A versioned resource gets an ETag, a new one a Location. */
export function buildAnswer(route: Route, data: unknown, location?: string): Answer {
  if (route.kind === 'list') return { status: 200, body: listBody(data as ListPage<unknown>) }
  if (route.status === 204) return { status: 204, body: null }
  if (route.bare) return { status: route.status, body: data as object, bare: true }
  if (route.wasThere?.(data)) return withHeaders({ status: 200, body: { data } })
  if (route.accepted?.(data)) return withHeaders({ status: 202, body: { data } })
  return withHeaders({ status: route.status, body: { data } }, location)
}

function withHeaders(answer: { status: number; body: { data: unknown } }, location?: string): Answer {
  const version = versionOf(answer.body.data)
  if (version === undefined && location === undefined) return answer
  const headers = {
    ...(version !== undefined && { ETag: `"${version}"` }),
    ...(location !== undefined && { Location: location }),
  }
  return { ...answer, headers }
}

/** The response without plaintext secrets, to be stored under an Idempotency-Key; status and headers are unchanged. */
export function storedAnswer(route: Route, data: unknown, location?: string): StoredResponse {
  const answer = buildAnswer(route, data, location)
  return route.redactReplay ? { ...answer, body: { data: route.redactReplay(data) } } : answer
}

function listBody({
  items,
  nextCursor,
  limit,
  hasMore = nextCursor !== null,
  total,
}: ListPage<unknown>): object {
  const totalField = total === undefined ? {} : { total }
  return { data: items, pagination: { nextCursor, hasMore, limit, ...totalField } }
}

function versionOf(data: unknown): number | undefined {
  if (data === null || typeof data !== 'object' || !('version' in data)) return undefined
  return typeof data.version === 'number' ? data.version : undefined
}
