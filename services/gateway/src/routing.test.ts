import { request as httpRequest } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ada, asAda, call, startPlatform, type TestPlatform } from './fixture/platform.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform()
})
afterAll(() => platform.stop())

const api = (path: string, init: RequestInit = {}) =>
  call(`${platform.url}/api/v1${path}`, { ...init, headers: { ...asAda, ...init.headers } })

/** The request as received by the service. */
async function seen(path: string, headers: Record<string, string> = {}) {
  const reply = await api(path, { headers })
  return { reply, headers: (reply.body.data?.headers ?? {}) as Record<string, string> }
}

describe('routing', () => {
  test('a request reaches the service that owns its path, without the prefix', async () => {
    const reply = await api('/itsm/incidents?limit=2&sort=-createdAt')
    expect(reply.status).toBe(200)
    expect(reply.body.data).toMatchObject({ method: 'GET', url: '/itsm/incidents?limit=2&sort=-createdAt' })
    expect(platform.itsm.requests).toHaveLength(1)
    await api('/webhooks')
    await api('/events/topics/orders/events')
    expect(platform.dispatcher.requests).toHaveLength(2)
  })

  test('a body is forwarded unchanged', async () => {
    const reply = await api('/itsm/incidents', {
      method: 'POST',
      body: '{"title":"Grüße"}',
      headers: { 'Content-Type': 'application/json', 'Idempotency-Key': 'key-1' },
    })
    expect(reply.body.data).toMatchObject({
      method: 'POST',
      body: '{"title":"Grüße"}',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'key-1' },
    })
  })

  test.each(['/nothing', '/internal/tokens/verify', '/itsm/../internal/x', '/workflow', '/sdks/packs'])(
    '%s is not a route',
    async (path) => {
      const status = await new Promise((resolve, reject) => {
        // Does not use fetch, which would resolve the dots itself.
        const options = { path: `/api/v1${path}`, headers: asAda }
        httpRequest(platform.url, options, async (response) => {
          resolve([response.statusCode, JSON.parse(await text(response)).error.code])
        })
          .on('error', reject)
          .end()
      })
      expect(status).toEqual([404, 'route_not_found'])
    },
  )

  test('internal routes are not reachable', async () => {
    const before = platform.questions.length
    const reply = await call(`${platform.url}/internal/tokens/verify`, { method: 'POST', headers: asAda })
    expect(reply.code).toBe('route_not_found')
    expect(platform.questions).toHaveLength(before)
  })
})

describe('a service receives', () => {
  test('the caller, in a token that only this service accepts', async () => {
    const { headers } = await seen('/itsm/incidents')
    const token = String(headers.authorization).replace('Bearer ', '')
    const asked = { method: 'GET', path: '/itsm/incidents' }
    expect(await platform.verifierOf('itsm').verify(token, asked)).toMatchObject({
      ...{ kind: 'client', issuer: 'gateway', principal: ada },
    })
    await expect(platform.verifierOf('settings').verify(token, asked)).rejects.toThrow()
  })

  test('no principal on a public route', async () => {
    const { body } = await call(`${platform.url}/api/v1/auth/token`, { method: 'POST', body: '{}' })
    const { authorization } = (body.data?.headers ?? {}) as Record<string, string>
    const verified = await platform
      .verifierOf('settings')
      .verify(String(authorization).replace('Bearer ', ''), { method: 'POST', path: '/auth/token' })
    expect(verified).toMatchObject({ kind: 'client', principal: undefined })
  })

  test('the client address, the user agent and the request id', async () => {
    const { reply, headers } = await seen('/itsm/incidents', {
      'User-Agent': 'acme/1.0',
      'X-Request-ID': 'trace-12345',
    })
    expect(headers).toMatchObject({
      'x-forwarded-for': '127.0.0.1',
      'user-agent': 'acme/1.0',
      'x-request-id': 'trace-12345',
    })
    expect(reply.headers.get('x-request-id')).toBe('trace-12345')
  })

  test('a new request id if the client sent no valid one', async () => {
    const { reply, headers } = await seen('/itsm/incidents', { 'X-Request-ID': 'no spaces!' })
    expect(headers['x-request-id']).toMatch(/^req_/)
    expect(reply.headers.get('x-request-id')).toBe(headers['x-request-id'])
  })

  test('no headers that only the platform may set', async () => {
    const { headers } = await seen('/itsm/incidents', {
      Cookie: 'a=b',
      Forwarded: 'for=1.1.1.1',
      'X-Forwarded-For': '1.1.1.1',
      'X-Forwarded-Host': 'evil.example',
      'X-Forwarded-Proto': 'gopher',
      'X-Internal-Principal': 'root',
      'X-Opsplane-User': 'root',
      'X-Real-IP': '1.1.1.1',
      TE: 'trailers',
      'X-Kept': 'yes',
    })
    expect(headers['x-forwarded-for']).toBe('127.0.0.1')
    expect(headers['x-kept']).toBe('yes')
    expect(headers.host).toBe(`127.0.0.1:${platform.itsm.port}`)
    for (const name of [
      'cookie',
      'forwarded',
      'x-forwarded-host',
      'x-forwarded-proto',
      'x-internal-principal',
      'x-opsplane-user',
      'x-real-ip',
      'te',
    ]) {
      expect(headers).not.toHaveProperty(name)
    }
  })
})

test('connection headers are not forwarded, in either direction', async () => {
  const { handler } = platform.itsm
  platform.itsm.handler = (request, response) => {
    const headers = { Connection: 'X-Hop', 'X-Hop': '1', ETag: '"3"', 'Content-Type': 'application/json' }
    response.writeHead(201, headers).end(JSON.stringify({ data: { hop: request.headers['x-hop'] ?? null } }))
  }
  const answer = await new Promise<{ headers: object; body: unknown }>((resolve, reject) => {
    const headers = { ...asAda, Connection: 'keep-alive, X-Hop', 'X-Hop': '1' }
    httpRequest(`${platform.url}/api/v1/itsm/incidents`, { headers }, async (response) => {
      resolve({ headers: response.headers, body: JSON.parse(await text(response)) })
    })
      .on('error', reject)
      .end()
  })
  platform.itsm.handler = handler
  expect(answer.headers).not.toHaveProperty('x-hop')
  expect(answer).toMatchObject({ headers: { etag: '"3"' }, body: { data: { hop: null } } })
})
