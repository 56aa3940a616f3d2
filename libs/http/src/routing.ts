import { ApiError } from '@opsplane/contracts'
import type { Route } from './route.js'

/**
 * Routes in the order Express must try them: a literal segment before a parameter, whatever the order they were
 * declared in. Throws on two routes with one operation id or one address, and on a misplaced internal route.
 */
export function orderRoutes(routes: readonly Route[], hasVerifier: boolean): Route[] {
  const seen = new Set<string>()
  for (const route of routes) {
    claim(seen, route.operationId)
    claim(seen, `${route.method} ${route.path.replaceAll(/:\w+/g, ':')}`)
    if ((route.scope === 'service') !== route.path.startsWith('/internal/')) {
      throw new Error(`${route.operationId}: /internal/* and the scope "service" go together`)
    }
    if (!hasVerifier && route.scope !== 'public') {
      throw new Error(`${route.operationId}: a route that needs a login needs a verifier`)
    }
  }
  return [...routes].sort((a, b) => (sortKey(a.path) < sortKey(b.path) ? -1 : 1))
}

function claim(seen: Set<string>, name: string): void {
  if (seen.has(name)) throw new Error(`two routes are ${name}`)
  seen.add(name)
}

/** A parameter sorts after every literal. */
function sortKey(path: string): string {
  return path.replaceAll(/:\w+/g, '\uffff')
}

/** The error for an address no route has: 405 with `Allow` when only the method is wrong. */
export function noSuchRoute(routes: readonly Route[]): (method: string, path: string) => ApiError {
  const matchers = routes.map(({ method, path }) => ({
    method: method.toUpperCase(),
    pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}/?$`),
  }))
  return (method, path) => {
    const found = matchers.filter(({ pattern }) => pattern.test(path)).map((matcher) => matcher.method)
    if (found.length === 0) return new ApiError('route_not_found', 'There is no such operation.')
    const allowed = [...new Set(found.includes('GET') ? ['GET', 'HEAD', ...found] : found)].join(', ')
    return new ApiError('method_not_allowed', `${method} is not possible here. Allowed: ${allowed}.`, {
      headers: { Allow: allowed },
    })
  }
}
