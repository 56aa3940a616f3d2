import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { ada, asAda, call, defaultVerify, startPlatform, type TestPlatform } from './fixture/platform.js'

let platform: TestPlatform
beforeEach(async () => {
  platform = await startPlatform()
})
afterEach(() => platform.stop())

const get = (path: string, headers: Record<string, string> = {}) =>
  call(`${platform.url}/api/v1${path}`, { headers })

describe('a request is rejected', () => {
  test.each([
    ['without a token', { Authorization: '' }, 401, 'unauthenticated', 'Bearer'],
    ['with another scheme', { Authorization: 'Basic YTpi' }, 401, 'unauthenticated', 'Bearer'],
    [
      'with a bad token',
      { Authorization: 'Bearer bad' },
      401,
      'invalid_token',
      'Bearer error="invalid_token"',
    ],
    [
      'with a token longer than any',
      { Authorization: `Bearer good${'x'.repeat(500)}` },
      401,
      'invalid_token',
      'Bearer error="invalid_token"',
    ],
    [
      'with an old token',
      { Authorization: 'Bearer expired' },
      401,
      'token_expired',
      'Bearer error="invalid_token"',
    ],
    ['without a workspace', { 'X-Workspace': '' }, 400, 'workspace_required', null],
    ['in a workspace not its own', { 'X-Workspace': 'other' }, 403, 'workspace_forbidden', null],
    ['in a workspace that cannot be', { 'X-Workspace': 'No Such' }, 403, 'workspace_forbidden', null],
    ['in an environment not its own', { 'X-Environment': 'staging' }, 403, 'environment_forbidden', null],
    ['in no known environment', { 'X-Environment': 'qa' }, 422, 'validation_failed', null],
    [
      'with a bad token before all else',
      { Authorization: 'Bearer bad', 'X-Environment': 'qa' },
      401,
      'invalid_token',
      'Bearer error="invalid_token"',
    ],
  ])('%s', async (_why, headers, status, code, challenge) => {
    const reply = await get('/itsm/incidents', { ...asAda, ...headers })
    expect(reply).toMatchObject({ status, code })
    expect(reply.headers.get('www-authenticate')).toBe(challenge)
    expect(reply.body.meta?.requestId).toBe(reply.headers.get('x-request-id'))
    expect(platform.itsm.requests).toHaveLength(0)
  })

  test('in an unknown environment with the name of the header', async () => {
    const { body } = await get('/itsm/incidents', { ...asAda, 'X-Environment': 'qa' })
    expect(body.error?.details).toMatchObject([{ in: 'header', path: '/X-Environment' }])
  })
})

test.each(['/auth/me', '/workspaces'])('GET %s requires a token but no workspace', async (path) => {
  expect((await get(path)).code).toBe('unauthenticated')
  expect((await get(path, { Authorization: 'Bearer good' })).status).toBe(200)
  expect(platform.questions).toEqual([{ token: 'good', environment: 'production' }])
})

test.each(['/auth/token', '/auth/invitations/accept'])('POST %s requires no token', async (path) => {
  const reply = await call(`${platform.url}/api/v1${path}`, { method: 'POST', body: '{}' })
  expect(reply.status).toBe(200)
  expect(platform.questions).toHaveLength(0)
})

describe('the verification of a token by settings', () => {
  test('is shared by concurrent requests, and cached', async () => {
    const replies = await Promise.all(Array.from({ length: 10 }, () => get('/itsm/incidents', asAda)))
    expect(replies.map((reply) => reply.status)).toEqual(Array(10).fill(200))
    await get('/itsm/changes', asAda)
    expect(platform.questions).toEqual([{ token: 'good', workspace: 'acme', environment: 'production' }])
  })

  test('is repeated for each workspace and environment', async () => {
    await get('/itsm/incidents', asAda)
    await get('/itsm/incidents', { ...asAda, 'X-Environment': 'development' })
    await get('/workspaces', { Authorization: 'Bearer good' })
    expect(platform.questions).toHaveLength(3)
  })

  test('is repeated after the cache time, so that a revoked token is rejected half a second later', async () => {
    expect((await get('/itsm/incidents', asAda)).status).toBe(200)
    platform.verify = () => {
      throw new ApiError('invalid_token', 'The token was revoked.')
    }
    platform.pass(499)
    await get('/itsm/incidents', asAda)
    platform.pass(1)
    await waitFor(async () => (await get('/itsm/incidents', asAda)).code === 'invalid_token')
  })

  test('that fails with an error is not treated as a rejection of the token', async () => {
    platform.verify = () => {
      throw new ApiError('service_unavailable', 'The database is down.')
    }
    const reply = await get('/itsm/incidents', asAda)
    expect(reply).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(reply.headers.get('retry-after')).toBe('1')
    platform.verify = defaultVerify
    expect((await get('/itsm/incidents', asAda)).status).toBe(200)
  })

  test('is required: every request is rejected while settings is unavailable', async () => {
    await platform.settings.close()
    const reply = await get('/itsm/incidents', asAda)
    expect(reply).toMatchObject({ status: 503, code: 'service_unavailable' })
    expect(reply.headers.get('retry-after')).toBe('1')
  })
})

describe('a route that admits guests', () => {
  const visit = (headers: Record<string, string>) =>
    call(`${platform.url}/api/v1/itsm/guests`, { method: 'POST', body: '{}', headers })
  const verified = ({ authorization = '' }: Record<string, string>) =>
    platform
      .verifierOf('itsm')
      .verify(authorization.replace('Bearer ', ''), { method: 'POST', path: '/itsm/guests' })
  const seen = async (headers: Record<string, string>) => {
    const { body } = await visit(headers)
    const received = (body.data?.headers ?? {}) as Record<string, string>
    return { received, ...(await verified(received)) }
  }

  test('forwards a token of another issuer to the service, and treats the caller as not logged in', async () => {
    const { received, ...who } = await seen({
      Authorization: 'Bearer a.b.c',
      'X-Internal-Guest-Token': 'd.e.f',
    })
    expect(who).toMatchObject({ kind: 'client', principal: undefined })
    expect(received['x-internal-guest-token']).toBe('a.b.c')
    expect(platform.questions).toHaveLength(0)
    const without = await seen({ 'X-Internal-Guest-Token': 'd.e.f' })
    expect(without.received).not.toHaveProperty('x-internal-guest-token')
  })

  test('accepts a token of the platform like any other route', async () => {
    const { received, ...who } = await seen({ Authorization: 'Bearer ops_good', 'X-Workspace': 'acme' })
    expect(who).toMatchObject({ kind: 'client', principal: ada })
    expect(received).not.toHaveProperty('x-internal-guest-token')
    expect(await visit({ Authorization: 'Bearer ops_bad', 'X-Workspace': 'acme' })).toMatchObject({
      ...{ status: 401, code: 'invalid_token' },
    })
    expect((await visit({ Authorization: 'Bearer ops_good' })).code).toBe('workspace_required')
  })
})
