import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { defaultRouteRule } from '@opsplane/contracts'
import {
  asAda,
  call,
  echo,
  type Handler,
  itsmRoutes,
  startPlatform,
  startUpstream,
  type TestPlatform,
  type Upstream,
} from './fixture/platform.js'

const perMinute = 60_000
const document = Buffer.alloc(25_000, 'x')

/** A public document of a service. */
const page = {
  ...defaultRouteRule,
  method: 'get',
  path: '/itsm/page',
  access: 'public',
  permission: null,
} as const
const serve: Handler = (request, response) => {
  if (request.url === '/itsm/page' || request.url === '/itsm/download') response.end(document)
  else echo(request, response)
}

let platform: TestPlatform
let service: Upstream
beforeEach(async () => {
  service = await startUpstream(serve, undefined, [
    ...itsmRoutes,
    { ...page, operationId: 'getPage' },
    { ...page, operationId: 'download', path: '/itsm/download', waits: true },
  ])
  const limits = { anonymousBytesPerMinute: perMinute, trustProxyCidrs: ['127.0.0.0/8'] }
  platform = await startPlatform(limits, { itsm: service.url })
})
afterEach(async () => {
  await platform.stop()
  await service.close()
})

const get = async (path: string, headers: Record<string, string> = {}) => {
  const response = await fetch(`${platform.url}/api/v1${path}`, {
    headers: { 'accept-encoding': 'identity', ...headers },
  })
  await response.arrayBuffer()
  return response
}
const bytesLeft = (response: Response) =>
  Number(/"anonymous-bytes";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1])

describe.each(['/docs/swagger-ui.css', '/openapi.json', '/openapi.yaml', '/itsm/page'])(
  'the bytes of %s',
  (path) => {
    /** Repeats requests until the limit is used up. */
    const useUp = async () => {
      for (let n = 0; n < 500; n++) {
        const response = await get(path)
        if (response.status === 429) return response
        expect(response.status).toBe(200)
      }
      throw new Error('never refused')
    }

    test('are counted, and requests are rejected beyond the limit until it is refilled', async () => {
      const before = bytesLeft(await get('/docs/docs.css'))
      const first = await get(path)
      expect(bytesLeft(first)).toBeGreaterThan(0)
      expect(bytesLeft(first)).toBeLessThan(before)
      const refused = await useUp()
      expect(refused.headers.get('ratelimit-policy')).toBe(
        `"anonymous-bytes";q=${perMinute};w=60;qu="content-bytes"`,
      )
      expect(refused.headers.get('ratelimit')).toMatch(/^"anonymous-bytes";r=0;t=\d+$/)
      platform.pass(Number(refused.headers.get('retry-after')) * 1_000)
      expect((await get(path)).status).toBe(200)
    })

    test('are limited per network, without effect on logins or requests with a token', async () => {
      await useUp()
      expect((await get('/docs/docs.css')).status).toBe(429)
      expect((await get(path, { 'x-forwarded-for': '203.0.113.9' })).status).toBe(200)
      const login = await call(`${platform.url}/api/v1/auth/token`, { method: 'POST' })
      expect([login.status, login.headers.get('ratelimit-policy')]).toEqual([200, '"anonymous";q=600;w=60'])
      expect((await get('/itsm/incidents', asAda)).status).toBe(200)
    })
  },
)

describe('the bytes of answers to a workspace', () => {
  const answersTo = async (headers: Record<string, string>, path = '/itsm/incidents') => {
    const response = await get(path, headers)
    return [response.status, /"answer-bytes";r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]]
  }

  test('are limited in addition to its requests, and requests are rejected until the limit is refilled', async () => {
    await platform.stop()
    platform = await startPlatform({ answerBytesPerMinute: 1_000 }, { itsm: service.url })
    service.handler = (_, response) => response.end(document)
    expect(await answersTo(asAda)).toEqual([200, '100'])
    expect(await answersTo(asAda)).toEqual([429, '0'])
    // A stream has separate limits, and the user outside the workspace has a separate bucket.
    expect((await get('/itsm/download', asAda)).status).toBe(200)
    expect(await answersTo({ Authorization: asAda.Authorization }, '/auth/me')).toEqual([200, '100'])
    const refused = await get('/itsm/incidents', asAda)
    platform.pass(Number(refused.headers.get('retry-after')) * 1_000)
    expect((await answersTo(asAda))[0]).toBe(200)
  })
})

test('a download by an issued URL and an answer without content use none of the byte limit', async () => {
  const before = bytesLeft(await get('/docs/docs.css'))
  const { headers } = await get('/docs')
  const after = bytesLeft(await get('/docs', { 'if-none-match': headers.get('etag') ?? '' }))
  expect(after).toBeLessThan(before)
  expect(bytesLeft(await get('/docs/docs.css', { 'if-none-match': '*' }))).toBe(after)
  const download = await get('/itsm/download')
  expect([download.status, download.headers.get('ratelimit-policy')]).toEqual([200, '"anonymous";q=600;w=60'])
  expect(bytesLeft(await get('/docs', { 'if-none-match': '*' }))).toBe(after)
})
