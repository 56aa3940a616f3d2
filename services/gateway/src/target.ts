import { defaultRouteRule, type RouteRule, serviceRegistry } from '@opsplane/contracts'
import type { RouteTree } from '@opsplane/http'

/** Where a request below /api/v1 goes. */
export interface Target {
  service: string
  /** Path and query as the service sees them: without /api/v1. */
  path: string
  /** The path alone. */
  pathname: string
}

export const apiPrefix = '/api/v1'

/** First path segment to the service that owns it. Nothing else is ever routed, least of all /internal. */
const owners: ReadonlyMap<string, string> = new Map(
  Object.entries(serviceRegistry).flatMap(([service, { paths }]) =>
    paths.map((segment): [string, string] => [segment, service]),
  ),
)

const dotSegment = /\/(?:\.|%2e){1,2}(?:\/|$)/i

/** Null when no service owns the path. `url` is the request target from the request line. */
export function resolveTarget(url: string): Target | null {
  if (!url.startsWith(`${apiPrefix}/`)) return null
  const path = url.slice(apiPrefix.length)
  const queryAt = path.indexOf('?')
  const pathname = queryAt === -1 ? path : path.slice(0, queryAt)
  if ((pathname.includes('/.') || pathname.includes('/%')) && dotSegment.test(pathname)) return null
  const end = pathname.indexOf('/', 1)
  const service = owners.get(end === -1 ? pathname.slice(1) : pathname.slice(1, end))
  return service === undefined ? null : { service, path, pathname }
}

/** What a service's table says of a request. What it does not name takes a token and a workspace. */
export function ruleOf(table: RouteTree<RouteRule>, method: string, { pathname }: Target): RouteRule {
  return table.lookup(method, pathname) ?? defaultRouteRule
}
