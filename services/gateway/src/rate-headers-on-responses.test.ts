import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ApiError } from '@opsplane/contracts'
import { asAda, defaultVerify, startPlatform, type TestPlatform } from './fixture/platform.js'

let platform: TestPlatform
beforeAll(async () => {
  platform = await startPlatform({ upstreamTimeoutMs: 2_000 })
  platform.verify = (question) => {
    if (question.token === 'unchecked') throw new ApiError('internal_error', 'Broken.')
    return defaultVerify(question)
  }
})
afterAll(() => platform.stop())

const api = '/api/v1'
const elsewhere = { ...asAda, 'X-Workspace': 'other' }

/** The request, its status, and the limit it counts against. */
const answers: [string, RequestInit & { path: string }, number, 'default' | 'anonymous'][] = [
  ['what a service answers', { path: `${api}/itsm/incidents`, headers: asAda }, 200, 'default'],
  ['a public route', { path: `${api}/auth/token`, method: 'POST' }, 200, 'anonymous'],
  ['no token', { path: `${api}/itsm/incidents` }, 401, 'anonymous'],
  [
    'a bad token',
    { path: `${api}/itsm/incidents`, headers: { ...asAda, Authorization: 'Bearer bad' } },
    401,
    'anonymous',
  ],
  [
    'a token that cannot be checked',
    { path: `${api}/auth/me`, headers: { Authorization: 'Bearer unchecked' } },
    503,
    'anonymous',
  ],
  ['another workspace', { path: `${api}/itsm/incidents`, headers: elsewhere }, 403, 'anonymous'],
  [
    'no workspace',
    { path: `${api}/itsm/incidents`, headers: { Authorization: 'Bearer good' } },
    400,
    'default',
  ],
  [
    'an unknown environment',
    { path: `${api}/itsm/incidents`, headers: { ...asAda, 'X-Environment': 'moon' } },
    422,
    'default',
  ],
  [
    'too large a body',
    { path: `${api}/itsm/incidents`, method: 'POST', headers: asAda, body: 'x'.repeat(1_100_000) },
    413,
    'default',
  ],
  ['a service that is silent', { path: `${api}/itsm/silent`, headers: asAda }, 504, 'default'],
  ['an unknown route', { path: `${api}/nowhere` }, 404, 'anonymous'],
  ['an unknown page', { path: '/nowhere' }, 404, 'anonymous'],
  ['a wrong method', { path: `${api}/openapi.json`, method: 'DELETE' }, 405, 'anonymous'],
  ['the reference page', { path: `${api}/docs/` }, 200, 'anonymous'],
  ['the way to the reference page', { path: '/' }, 302, 'anonymous'],
]

describe('every answer', () => {
  beforeAll(() => {
    const { handler } = platform.itsm
    platform.itsm.handler = (request, response) => {
      if (request.url === '/itsm/silent') return
      handler(request, response)
    }
  })

  test.each(answers)(
    'contains the remaining number of requests: %s',
    async (_what, { path, ...init }, status, policy) => {
      const answer = await fetch(`${platform.url}${path}`, { redirect: 'manual', ...init })
      await answer.arrayBuffer()
      expect(answer.status).toBe(status)
      // A user's burst is a tenth of the limit per minute, which is refilled in a tenth of a minute.
      const seconds = policy === 'default' ? 6 : 60
      const [requests, bytes] = (answer.headers.get('ratelimit-policy') ?? '').split(', ')
      expect(requests).toBe(`"${policy}";q=600;w=${seconds}`)
      expect(answer.headers.get('ratelimit')).toMatch(new RegExp(`^"${policy}";r=\\d+;t=\\d+`))
      const isDocument = path.startsWith(`${api}/docs`)
      expect(bytes).toBe(isDocument ? '"anonymous-bytes";q=67108864;w=60;qu="content-bytes"' : undefined)
      expect(answer.headers.get('x-request-id')).toMatch(/^[A-Za-z0-9._-]{8,128}$/)
    },
  )

  // Responses of services have the service's own headers: libs/http/src/server/app.test.ts.
  const own = answers.filter(
    ([, , status, policy]) => (policy === 'anonymous' && status !== 200) || status >= 400,
  )
  test.each(own)('contains the security headers: %s', async (_what, { path, ...init }) => {
    const answer = await fetch(`${platform.url}${path}`, { redirect: 'manual', ...init })
    await answer.arrayBuffer()
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'referrer-policy': 'no-referrer',
      'strict-transport-security': expect.stringMatching(/^max-age=\d+/),
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    })
    expect(answer.headers.has('x-powered-by')).toBe(false)
  })

  test('to a request that is not HTTP contains the security headers', async () => {
    const socket = connect(Number(new URL(platform.url).port), '127.0.0.1')
    socket.write('NONSENSE\r\n\r\n')
    const [bytes] = (await once(socket, 'data')) as [Buffer]
    socket.destroy()
    expect(bytes.toString()).toMatch(/^HTTP\/1\.1 400 /)
    expect(bytes.toString().toLowerCase()).toContain('x-content-type-options: nosniff')
  })

  test('to a health check contains no rate limit', async () => {
    for (const path of ['/healthz', '/readyz']) {
      const answer = await fetch(`${platform.url}${path}`)
      await answer.arrayBuffer()
      expect(answer.headers.has('ratelimit')).toBe(false)
    }
  })
})

test('the reference page may load nothing from other origins and run nothing inline', async () => {
  const answer = await fetch(`${platform.url}${api}/docs/`)
  await answer.arrayBuffer()
  const policy = answer.headers.get('content-security-policy') ?? ''
  expect(policy).toContain("default-src 'none'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toMatch(/unsafe|https?:|\*/)
})

test('a page of another origin cannot read any answer', async () => {
  const from = { Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' }
  const asked = [
    await fetch(`${platform.url}${api}/itsm/incidents`, { method: 'OPTIONS', headers: from }),
    await fetch(`${platform.url}${api}/itsm/incidents`, { headers: { ...asAda, ...from } }),
    await fetch(`${platform.url}${api}/openapi.json`, { headers: from }),
  ]
  for (const answer of asked) {
    await answer.arrayBuffer()
    expect([...answer.headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([])
  }
})

test('the Location of a created resource is its public path, and a 304 is forwarded', async () => {
  platform.itsm.handler = (request, response) => {
    if (request.method === 'POST') {
      response.writeHead(201, { Location: '/itsm/incidents/inc_1' }).end('{"data":{}}')
    } else response.writeHead(request.headers['if-none-match'] === '"3"' ? 304 : 500, { ETag: '"3"' }).end()
  }
  const url = `${platform.url}${api}/itsm/incidents`
  const created = await fetch(url, { method: 'POST', headers: asAda, body: '{}' })
  await created.arrayBuffer()
  expect(created.headers.get('location')).toBe('/api/v1/itsm/incidents/inc_1')
  const again = await fetch(`${url}/inc_1`, { headers: { ...asAda, 'If-None-Match': '"3"' } })
  expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, '"3"', ''])
})
