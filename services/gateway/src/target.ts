import { defaultRouteRule, originPrefix, type ServiceEntry, serviceRegistry } from '@opsplane/contracts'
import { noOperation, type RouteTree } from '@opsplane/http'
import type { OperationRule } from './route-tables.js'

/** Where a request goes that a service answers. */
export interface Target {
  service: string
  /** Path and query as the service sees them: without /api/v1, or below /origin. */
  path: string
  /** The path alone. */
  pathname: string
  /** It is below the origin itself: not of the API, and not by its clients. */
  isOfOrigin: boolean
}

export const apiPrefix = '/api/v1'

const buildOwnerMap = (pathsOf: (entry: ServiceEntry) => readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(serviceRegistry).flatMap(([service, entry]) =>
      pathsOf(entry).map((path): [string, string] => [path, service]),
    ),
  )
/** First path segment, or the first two, to the service that owns them. Nothing else is ever routed, least of all /internal. */
const owners = buildOwnerMap(({ paths }) => paths)
/** The same below the origin itself, where such a path may have two segments. */
const ownersOfOrigin = buildOwnerMap(({ originPaths = [] }) => originPaths)

const dotSegment = /\/(?:\.|%2e){1,2}(?:\/|$)/i

/** Null when no service owns the path. `url` is the request target from the request line. */
export function resolveTarget(url: string): Target | null {
  const isOfOrigin = !url.startsWith(`${apiPrefix}/`)
  const path = isOfOrigin ? `${originPrefix}${url}` : url.slice(apiPrefix.length)
  const queryAt = path.indexOf('?')
  const pathname = queryAt === -1 ? path : path.slice(0, queryAt)
  if ((pathname.includes('/.') || pathname.includes('/%')) && dotSegment.test(pathname)) return null
  const [, first = '', second = '', third = ''] = pathname.split('/', 4)
  const service = isOfOrigin
    ? (ownersOfOrigin.get(second) ?? ownersOfOrigin.get(`${second}/${third}`))
    : (owners.get(`${first}/${second}`) ?? owners.get(first))
  return service === undefined ? null : { service, path, pathname, isOfOrigin }
}

/** The rule that a service's table has for a request. Without one the request needs a token and a workspace. */
export function findRouteRule(
  table: RouteTree<OperationRule>,
  method: string,
  { pathname }: Target,
): OperationRule {
  return table.lookup(method, pathname) ?? unknownRule
}

const unknownRule: OperationRule = { ...defaultRouteRule, ...noOperation }
