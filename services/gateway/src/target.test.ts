import { describe, expect, test } from '@jest/globals'
import { resolveTarget } from './target.js'

describe('where a request goes', () => {
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
    ['/api/v1/tables/orders/records', 'database-studio'],
    ['/api/v1/transformer/evaluate', 'integrations'],
    ['/api/v1/runs/run_1', 'workflows'],
  ])('%s is owned by %s', (url, service) => {
    expect(resolveTarget('GET', url)).toMatchObject({ service, path: url.slice('/api/v1'.length) })
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
    'http://elsewhere/api/v1/auth/me',
  ])('%s goes nowhere', (url) => {
    expect(resolveTarget('GET', url)).toBeNull()
  })

  test('dots within a segment or in the query are part of a name', () => {
    expect(resolveTarget('GET', '/api/v1/events/topics/a..b/events?after=/../x')?.service).toBe('dispatcher')
  })

  test.each([
    ['POST', '/auth/token', 'public'],
    ['POST', '/auth/invitations/accept', 'public'],
    ['POST', '/auth/logout', 'account'],
    ['GET', '/auth/me', 'account'],
    ['GET', '/workspaces?limit=2', 'account'],
    ['GET', '/events/catalog?type=incident.*', 'account'],
    ['GET', '/events/catalog/incident.created', 'account'],
    ['HEAD', '/events/asyncapi.json', 'account'],
    ['POST', '/events/catalog', 'workspace'],
    ['GET', '/events/catalog/a/b', 'workspace'],
    ['GET', '/events/topics/catalog/events', 'workspace'],
    ['GET', '/auth/token', 'workspace'],
    ['POST', '/auth/tokens', 'workspace'],
    ['POST', '/workspaces', 'workspace'],
    ['GET', '/workspaces/me', 'workspace'],
    ['POST', '/auth/token/', 'workspace'],
  ])('%s %s needs %s access', (method, path, access) => {
    expect(resolveTarget(method, `/api/v1${path}`)?.access).toBe(access)
  })

  test('bulk routes take larger bodies, and long-polls and exports have connections of their own', () => {
    expect(resolveTarget('POST', '/api/v1/tables/t/records/bulk')?.bodyLimitBytes).toBe(16 * 1024 * 1024)
    expect(resolveTarget('POST', '/api/v1/tables/t/records')?.bodyLimitBytes).toBe(1024 * 1024)
    expect(resolveTarget('GET', '/api/v1/events/topics/t/events?timeout=9')?.waits).toBe(true)
    expect(resolveTarget('GET', '/api/v1/events/topics/t/events/?timeout=9')?.waits).toBe(true)
    expect(resolveTarget('GET', '/api/v1/events/topics/t')?.waits).toBe(false)
    expect(resolveTarget('GET', '/api/v1/audit/export?type=*')?.waits).toBe(true)
    expect(resolveTarget('GET', '/api/v1/audit')?.waits).toBe(false)
  })
})
