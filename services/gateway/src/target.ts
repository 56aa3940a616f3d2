import { defaultRouteRule, originPrefix, type ServiceEntry, serviceRegistry } from '@opsplane/contracts'
import { noOperation, type RouteTree } from '@opsplane/http'
import type { OperationRule } from './route-tables.js'

/** The service and path for a request that is forwarded. */
export interface Target {
  service: string
  /** Path and query for the service: without /api/v1, or below /origin. */
  path: string
  /** The path alone. */
  pathname: string
  /** The path is below the origin itself: not part of the API, and not for API clients. */
  isOfOrigin: boolean
}

export const apiPrefix = '/api/v1'

const buildOwnerMap = (pathsOf: (entry: ServiceEntry) => readonly string[]): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(serviceRegistry).flatMap(([service, entry]) =>
      pathsOf(entry).map((path): [string, string] => [path, service]),
    ),
  )
/**
 * Maps the first one or two path segments to the owning service. Nothing else is ever
 * routed, in particular not /internal.
 */
const owners = buildOwnerMap(({ paths }) => paths)
/** Same for paths below the origin itself, which may have two segments. */
const ownersOfOrigin = buildOwnerMap(({ originPaths = [] }) => originPaths)

const dotSegment = /\/(?:\.|%2e){1,2}(?:\/|$)/i

/** Returns null if no service owns the path. `url` is the request target from the request line. */
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

/** The rule for a request in a service's table. Without a rule, the request requires a token and a workspace. */
export function findRouteRule(
  table: RouteTree<OperationRule>,
  method: string,
  { pathname }: Target,
): OperationRule {
  return table.lookup(method, pathname) ?? unknownRule
}

const unknownRule: OperationRule = { ...defaultRouteRule, ...noOperation }
