import { describe, expect, test } from '@jest/globals'
import { RouteTree } from '@opsplane/http'
import { dispatcherRoutes, itsmRoutes, settingsRoutes } from './fixture/platform.js'
import type { OperationRule } from './route-tables.js'
import { findRouteRule, resolveTarget } from './target.js'

describe('the target of a request', () => {
  test.each([
    ['/api/v1/auth/token', 'settings'],
    ['/api/v1/workspaces', 'settings'],
    ['/api/v1/settings/users/usr_1', 'settings'],
    ['/api/v1/secrets?limit=1', 'settings'],
    ['/api/v1/audit', 'settings'],
    ['/api/v1/notifications/ntf_1/read', 'settings'],
    ['/api/v1/itsm/incidents', 'itsm'],
    ['/api/v1/cmdb/topology', 'itsm'],
    ['/api/v1/knowledge/search', 'itsm'],
    ['/api/v1/catalog/items', 'itsm'],
    ['/api/v1/webhooks/wh_1/deliveries', 'dispatcher'],
    ['/api/v1/events/topics/orders/publish', 'dispatcher'],
  ])('%s is owned by %s', (url, service) => {
    expect(resolveTarget(url)).toMatchObject({ service, path: url.slice('/api/v1'.length) })
  })

  test('inbound webhooks are reachable below the origin, and nothing else of their service is', () => {
    expect(resolveTarget('/hooks/hk_1?wait=5')).toMatchObject({
      ...{ service: 'workflows', path: '/origin/hooks/hk_1?wait=5', pathname: '/origin/hooks/hk_1' },
      isOfOrigin: true,
    })
    expect(resolveTarget('/api/service-sdk/executions')).toMatchObject({
      ...{ service: 'sdk', pathname: '/origin/api/service-sdk/executions' },
    })
    expect(resolveTarget('/apps/acme/intake')).toMatchObject({ pathname: '/origin/apps/acme/intake' })
    expect(resolveTarget('/api/v1/apps/app_1')).toMatchObject({ pathname: '/apps/app_1' })
    expect(resolveTarget('/api/v1/workflows/wf_1')).toMatchObject({ isOfOrigin: false })
    for (const url of [
      '/api/v1/hooks/hk_1',
      '/api/v1/origin/hooks/hk_1',
      '/origin/hooks/hk_1',
      '/api/service',
      '/api/service-sdk2/executions',
      '/workflows',
      '/runs/run_1',
      '/hooks/../internal/events',
      '/hook/x',
    ])
      expect(resolveTarget(url)).toBeNull()
  })

  test.each([
    '/',
    '/api/v1',
    '/api/v1/',
    '/api/v1/internal/tokens/verify',
    '/internal/tokens/verify',
    '/api/v1//internal/tokens/verify',
    '/api/v1/Internal/tokens/verify',
    '/api/v1/auth/../internal/tokens/verify',
    '/api/v1/auth/%2e%2E/internal/tokens/verify',
    '/api/v1/auth/./me',
    '/api/v1/auth/..',
    '/api/v2/auth/me',
    '/api/v1/openapi.json',
    '/api/v1/incidents',
    '/api/v1/reports/orders/records',
    'http://elsewhere/api/v1/auth/me',
  ])('%s has no target', (url) => {
    expect(resolveTarget(url)).toBeNull()
  })

  test('dots within a segment or in the query are part of a name', () => {
    expect(resolveTarget('/api/v1/events/topics/a..b/events?after=/../x')?.service).toBe('dispatcher')
  })
})

describe('the rule for a request', () => {
  const table = new RouteTree<OperationRule>()
  for (const { method, path, ...rule } of [...settingsRoutes, ...itsmRoutes, ...dispatcherRoutes])
    table.add(method, path, rule)
  const rule = (method: string, path: string) => {
    const target = resolveTarget(`/api/v1${path}`)
    return target && findRouteRule(table, method, target)
  }

  test.each([
    ['POST', '/auth/token', 'public'],
    ['POST', '/auth/token/', 'public'],
    ['POST', '/auth/invitations/accept', 'public'],
    ['GET', '/auth/me', 'account'],
    ['HEAD', '/auth/me', 'account'],
    ['GET', '/workspaces?limit=2', 'account'],
    ['GET', '/events/catalog?type=incident.*', 'account'],
    ['GET', '/events/catalog/incident.created', 'account'],
    ['HEAD', '/events/catalog/incident.created', 'account'],
    ['GET', '/events/catalog/%ff', 'account'],
    ['POST', '/events/catalog', 'workspace'],
    ['GET', '/events/catalog/a/b', 'workspace'],
    ['GET', '/events/catalog//', 'workspace'],
    ['GET', '/events/topics/catalog/events', 'workspace'],
    ['GET', '/auth/token', 'workspace'],
    ['POST', '/auth//token', 'workspace'],
    ['POST', '/auth/%74oken', 'workspace'],
    ['POST', '/auth/tokens', 'workspace'],
    ['POST', '/auth', 'workspace'],
    ['POST', '/workspaces', 'workspace'],
    ['GET', '/workspaces/me', 'workspace'],
    ['BREW', '/auth/token', 'workspace'],
  ])('%s %s requires %s access', (method, path, access) => {
    expect(rule(method, path)?.access).toBe(access)
  })

  test('contains the body limit and the waiting flag that its service declares', () => {
    const mebibyte = 1024 * 1024
    expect(rule('POST', '/knowledge/articles')?.bodyLimitBytes).toBe(2 * mebibyte)
    expect(rule('POST', '/itsm/incidents')?.bodyLimitBytes).toBe(mebibyte)
    expect(rule('POST', '/itsm/unheard-of')?.bodyLimitBytes).toBe(mebibyte)
    expect(rule('GET', '/events/topics/t/events?timeout=9')?.waits).toBe(true)
    expect(rule('GET', '/events/topics/t/events/?timeout=9')?.waits).toBe(true)
    expect(rule('GET', '/events/topics/t')?.waits).toBe(false)
    expect(rule('GET', '/audit/export?type=*')?.waits).toBe(true)
    expect(rule('GET', '/audit')?.waits).toBe(false)
  })
})
