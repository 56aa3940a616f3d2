import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { waitFor } from '@opsplane/testing'
import { asAda, call, startPlatform, type TestPlatform } from './fixture/platform.js'

let platform: TestPlatform
/** Sends all responses held back so far. */
let answerAll: () => void
let held = 0

beforeEach(async () => {
  platform = await startPlatform({ trustProxyCidrs: ['127.0.0.0/8'], anonymousRateLimitPerMinute: 0 })
  const { handler } = platform.settings
  const waiting: (() => void)[] = []
  held = 0
  answerAll = () => {
    for (const answer of waiting.splice(0)) answer()
  }
  platform.settings.handler = (request, response) => {
    if (request.url !== '/auth/token') return handler(request, response)
    held++
    waiting.push(() => response.end('{"data":{}}'))
  }
})
afterEach(async () => {
  answerAll()
  await platform.stop()
})

const logIn = (address: string, init: RequestInit = {}) =>
  call(`${platform.url}/api/v1/auth/token`, {
    method: 'POST',
    headers: { 'X-Forwarded-For': address },
    ...init,
  })

test('an address has at most eight logins in flight; more are rejected immediately, other addresses accepted', async () => {
  const under = Array.from({ length: 8 }, () => logIn('203.0.113.1'))
  await waitFor(() => held === 8)
  const refused = await logIn('203.0.113.1')
  expect(refused).toMatchObject({ status: 503, code: 'service_unavailable' })
  expect(refused.headers.get('retry-after')).toBe('1')
  const other = logIn('203.0.113.2')
  await waitFor(() => held === 9)
  answerAll()
  expect(new Set((await Promise.all([...under, other])).map(({ status }) => status))).toEqual(new Set([200]))
  const next = logIn('203.0.113.1')
  await waitFor(() => held === 10)
  answerAll()
  expect((await next).status).toBe(200)
})

test('all addresses have at most thirty-two logins in flight, without effect on callers with a token', async () => {
  const under = Array.from({ length: 32 }, (_, n) => logIn(`203.0.113.${n}`))
  await waitFor(() => held === 32)
  expect((await logIn('203.0.113.99')).status).toBe(503)
  expect((await call(`${platform.url}/api/v1/itsm/incidents`, { headers: asAda })).status).toBe(200)
  answerAll()
  await Promise.all(under)
})

test('a client that disconnects frees its slot', async () => {
  const leaving = new AbortController()
  const under = Array.from({ length: 8 }, () =>
    logIn('203.0.113.1', { signal: leaving.signal }).catch(() => null),
  )
  await waitFor(() => held === 8)
  leaving.abort()
  await Promise.all(under)
  await waitFor(async () => {
    const before = held
    const trying = logIn('203.0.113.1')
    await Promise.race([trying, waitFor(() => held > before)])
    answerAll()
    return (await trying).status === 200
  })
})
