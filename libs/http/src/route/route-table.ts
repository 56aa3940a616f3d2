import { type Permission, type RouteAccess, RouteTable } from '@opsplane/contracts'
import { isFeed } from '../links/feeds.js'
import { defineRoute, type Route, type Scope } from './route.js'

/**
 * Serves the table of these routes: the gateway uses it to forward requests, workflows and apps to find operations.
 * Access is still decided by the routes themselves.
 */
export function routeTableRoute(routes: readonly Route[]): Route {
  const table: RouteTable = {
    routes: routes
      .filter(({ scope }) => scope !== 'service')
      .map((route) => ({
        operationId: route.operationId,
        method: route.method,
        path: route.path,
        access: accessTo(route),
        permission: permissionOf(route),
        bodyLimitBytes: route.bodyLimitBytes,
        waits: route.waits,
        ...(isFeed(route) && { isFeed: true }),
      })),
  }
  return defineRoute({
    operationId: 'getRouteTable',
    method: 'get',
    path: '/internal/routes',
    summary: 'Get the route table of this service',
    tag: 'Internal',
    scope: 'service',
    callers: ['gateway', 'workflows', 'sdk', 'apps'],
    response: RouteTable,
    handler: async () => table,
  })
}

const isPermission = (scope: Scope): scope is Permission =>
  scope !== 'public' && scope !== 'authenticated' && scope !== 'service'

const permissionOf = ({ scope }: Route): Permission | null => (isPermission(scope) ? scope : null)

function accessTo({ scope, workspace }: Route): RouteAccess {
  if (workspace === 'optional') return 'guest'
  if (scope === 'public') return 'public'
  return workspace === 'none' ? 'account' : 'workspace'
}
