import { beforeAll, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { type Api, type ApiRequest, apiClient } from './platform.js'
import { joinPlatform } from './shared/platform.js'

let api: Api

beforeAll(async () => {
  api = apiClient((await joinPlatform()).info)
})

interface Case {
  name: string
  method?: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  request?: ApiRequest
  status: number
  code: string
  /** A detail that the error must contain. */
  detail?: { in: string; path: string }
}

const webhook = (fields: Record<string, unknown>) => ({
  body: { name: 'w', url: 'https://example.com/hook', events: ['incident.*'], ...fields },
})

const cases: Case[] = [
  {
    name: 'no JSON',
    method: 'POST',
    path: '/itsm/incidents',
    request: { rawBody: '{"title":' },
    status: 400,
    code: 'malformed_json',
  },
  {
    name: 'a body that is no object',
    method: 'POST',
    path: '/itsm/incidents',
    request: { rawBody: '[]' },
    status: 422,
    code: 'validation_failed',
  },
  {
    name: 'a wrong type',
    method: 'POST',
    path: '/itsm/incidents',
    request: { body: { title: 7 } },
    status: 422,
    code: 'validation_failed',
    detail: { in: 'body', path: '/title' },
  },
  {
    name: 'a missing field',
    method: 'POST',
    path: '/itsm/incidents',
    request: { body: {} },
    status: 422,
    code: 'validation_failed',
    detail: { in: 'body', path: '/title' },
  },
  {
    name: 'an unknown value',
    method: 'POST',
    path: '/itsm/incidents',
    request: { body: { title: 't', severity: 'huge' } },
    status: 422,
    code: 'validation_failed',
    detail: { in: 'body', path: '/severity' },
  },
  {
    name: 'an unknown query parameter',
    path: '/itsm/incidents?colour=red',
    status: 422,
    code: 'validation_failed',
    detail: { in: 'query', path: '/colour' },
  },
  {
    name: 'a limit out of range',
    path: '/itsm/incidents?limit=201',
    status: 422,
    code: 'validation_failed',
    detail: { in: 'query', path: '/limit' },
  },
  { name: 'a made-up cursor', path: '/itsm/incidents?after=abc', status: 400, code: 'invalid_cursor' },
  {
    name: 'a wrong media type',
    method: 'POST',
    path: '/itsm/incidents',
    request: { rawBody: 'title=x', headers: { 'content-type': 'text/plain' } },
    status: 415,
    code: 'unsupported_media_type',
  },
  {
    name: 'a body too large',
    method: 'POST',
    path: '/itsm/incidents',
    request: { body: { title: 't', description: 'x'.repeat(1_100_000) } },
    status: 413,
    code: 'payload_too_large',
  },
  {
    name: 'a foreign workspace',
    path: '/itsm/incidents',
    request: { headers: { 'x-workspace': 'another-workspace' } },
    status: 403,
    code: 'workspace_forbidden',
  },
  {
    name: 'no workspace',
    path: '/itsm/incidents',
    request: { headers: { 'x-workspace': undefined } },
    status: 400,
    code: 'workspace_required',
  },
  {
    name: 'an unknown environment',
    path: '/itsm/incidents',
    request: { headers: { 'x-environment': 'moon' } },
    status: 422,
    code: 'validation_failed',
  },
  {
    name: 'no token',
    path: '/itsm/incidents',
    request: { headers: { authorization: undefined } },
    status: 401,
    code: 'unauthenticated',
  },
  {
    name: 'a made-up token',
    path: '/itsm/incidents',
    request: { headers: { authorization: 'Bearer ops_key_x_y' } },
    status: 401,
    code: 'invalid_token',
  },
  { name: 'an unknown route', path: '/nowhere', status: 404, code: 'route_not_found' },
  { name: 'an unknown route of a service', path: '/itsm/nowhere', status: 404, code: 'route_not_found' },
  {
    name: 'an internal route',
    method: 'POST',
    path: '/internal/tokens/verify',
    request: { body: {} },
    status: 404,
    code: 'route_not_found',
  },
  {
    name: 'a wrong method',
    method: 'DELETE',
    path: '/itsm/incidents',
    status: 405,
    code: 'method_not_allowed',
  },
  {
    name: 'an absent incident',
    path: '/itsm/incidents/inc_01JZZZZZZZZZZZZZZZZZZZZZZZ',
    status: 404,
    code: 'not_found',
  },
  { name: 'bad %-encoding', path: '/itsm/incidents/%E0%A4%A', status: 400, code: 'malformed_url' },
  {
    name: 'a bad idempotency key',
    method: 'POST',
    path: '/itsm/incidents',
    request: { body: { title: 't' }, headers: { 'idempotency-key': 'k'.repeat(300) } },
    status: 400,
    code: 'idempotency_key_invalid',
  },
  {
    name: 'an http:// webhook',
    method: 'POST',
    path: '/webhooks',
    request: webhook({ url: 'http://example.com/hook' }),
    status: 422,
    code: 'validation_failed',
    detail: { in: 'body', path: '/url' },
  },
  {
    // The platform may call loopback addresses except for this one.
    name: 'a denied webhook',
    method: 'POST',
    path: '/webhooks',
    request: webhook({ url: 'https://127.0.0.9/hook' }),
    status: 422,
    code: 'validation_failed',
    detail: { in: 'body', path: '/url' },
  },
  {
    name: 'a private webhook',
    method: 'POST',
    path: '/webhooks',
    request: webhook({ url: 'https://10.1.2.3/hook' }),
    status: 422,
    code: 'validation_failed',
    detail: { in: 'body', path: '/url' },
  },
  {
    name: 'a metadata webhook',
    method: 'POST',
    path: '/webhooks',
    request: webhook({ url: 'https://169.254.169.254/latest' }),
    status: 422,
    code: 'validation_failed',
    detail: { in: 'body', path: '/url' },
  },
  {
    name: 'a denied webhook spelt as a number',
    method: 'POST',
    path: '/webhooks',
    request: webhook({ url: 'https://2130706441/' }),
    status: 422,
    code: 'validation_failed',
    detail: { in: 'body', path: '/url' },
  },
  {
    name: 'an unknown filter operator',
    method: 'POST',
    path: '/webhooks',
    request: webhook({ filter: { 'data.x': { like: 'y' } } }),
    status: 422,
    code: 'validation_failed',
  },
]

test.each(cases)('$name: $status $code', async ({ method = 'GET', path, request, status, code, detail }) => {
  const answer = await api<{
    error: { code: string; status: number; details: unknown[] }
    meta: { requestId: string }
  }>(method, path, request)
  expect(answer.status).toBe(status)
  expect(answer.body.error).toMatchObject({ code, status, message: expect.any(String) })
  expect(answer.body.meta.requestId).toBe(answer.headers['x-request-id'])
  if (detail) expect(answer.body.error.details).toContainEqual(expect.objectContaining(detail))
})

test('rejects a missing scope, an expired token and a revoked token', async () => {
  const create = (body: Record<string, unknown>) =>
    api<{ data: { id: string; token: string } }>('POST', '/auth/tokens', { body })
  const as = (token: string) =>
    api('GET', '/itsm/incidents', { headers: { authorization: `Bearer ${token}` } })

  const narrow = await create({ name: 'narrow', scopes: ['webhooks:read'] })
  expect(narrow.status).toBe(201)
  expect(await as(narrow.body.data.token)).toMatchObject({
    status: 403,
    body: { error: { code: 'insufficient_scope' } },
  })

  const revoked = await create({ name: 'revoked', scopes: ['itsm:read'] })
  expect((await as(revoked.body.data.token)).status).toBe(200)
  await api('DELETE', `/auth/tokens/${revoked.body.data.id}`)
  const refusalOf = (token: string) =>
    waitFor(async () => {
      const answer = await as(token)
      return answer.status !== 200 && answer
    })
  expect(await refusalOf(revoked.body.data.token)).toMatchObject({
    status: 401,
    body: { error: { code: 'invalid_token' } },
  })

  // Repeated, because a slow machine may need longer for the request than the token is valid.
  const short = await waitFor(async () => {
    const expiresAt = new Date(Date.now() + 1_500).toISOString()
    const made = await create({ name: 'short', scopes: ['itsm:read'], expiresAt })
    return made.status === 201 && made
  })
  expect(await refusalOf(short.body.data.token)).toMatchObject({
    status: 401,
    body: { error: { code: 'token_expired' } },
  })
})

test('a record returns 404 in another environment', async () => {
  const created = await api<{ data: { id: string } }>('POST', '/itsm/incidents', {
    body: { title: 'production only' },
  })
  const path = `/itsm/incidents/${created.body.data.id}`
  const elsewhere = await api('GET', path, { headers: { 'x-environment': 'staging' } })
  const absent = await api('GET', '/itsm/incidents/inc_01JZZZZZZZZZZZZZZZZZZZZZZZ')
  expect(elsewhere.status).toBe(404)
  expect({ ...elsewhere.body, meta: null }).toEqual({ ...absent.body, meta: null })
  expect((await api('GET', path)).status).toBe(200)
})
