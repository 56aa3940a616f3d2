import { afterEach, expect, test } from '@jest/globals'
import { asAda, call, defaultVerify, startPlatform, type TestPlatform } from './fixture/platform.js'

let platform: TestPlatform
afterEach(() => platform.stop())

const get = (path: string, headers: Record<string, string>) =>
  call(`${platform.url}/api/v1${path}`, { headers })

test('a person has a limited number of requests per minute in a workspace', async () => {
  platform = await startPlatform({ rateLimitPerMinute: 2 })
  const first = await get('/itsm/incidents', asAda)
  expect(first.headers.get('ratelimit-policy')).toBe('"default";q=2;w=60')
  expect(first.headers.get('ratelimit')).toBe('"default";r=1;t=30')
  await get('/itsm/incidents', { ...asAda, Authorization: 'Bearer good-too' })
  const refused = await get('/itsm/incidents', asAda)
  expect(refused).toMatchObject({ status: 429, code: 'rate_limited' })
  expect(refused.headers.get('retry-after')).toBe('30')
  expect(refused.headers.get('ratelimit')).toBe('"default";r=0;t=60')
  expect((await get('/auth/me', { Authorization: 'Bearer good' })).status).toBe(200)

  platform.pass(30_000)
  expect((await get('/itsm/incidents', asAda)).status).toBe(200)
})

test('a tenth of a high limit per minute is allowed as a burst, the rest over time', async () => {
  platform = await startPlatform({ rateLimitPerMinute: 2_000 })
  const first = await get('/itsm/incidents', asAda)
  expect(first.headers.get('ratelimit-policy')).toBe('"default";q=200;w=6')
  expect(first.headers.get('ratelimit')).toBe('"default";r=199;t=1')
  for (let more = 0; more < 199; more++) expect((await get('/itsm/incidents', asAda)).status).toBe(200)
  expect((await get('/itsm/incidents', asAda)).status).toBe(429)
  platform.pass(30)
  expect((await get('/itsm/incidents', asAda)).status).toBe(200)
  expect((await get('/itsm/incidents', asAda)).status).toBe(429)
})

test("each API key has a limit separate from its owner's", async () => {
  platform = await startPlatform({ rateLimitPerMinute: 1 })
  platform.verify = (question) => {
    const principal = defaultVerify(question)
    const { token } = question
    if (!token.startsWith('good-key')) return principal
    const id = token === 'good-key-1' ? 'tok_1' : 'tok_2'
    return { ...principal, tokenId: id, actor: { id, name: 'CI', type: 'api_token' as const } }
  }
  const statusWith = async (token: string) =>
    (await get('/itsm/incidents', { ...asAda, Authorization: `Bearer ${token}` })).status
  expect(await statusWith('good-key-1')).toBe(200)
  expect(await statusWith('good-key-1')).toBe(429)
  expect(await statusWith('good-key-2')).toBe(200)
  expect(await statusWith('good')).toBe(200)
  expect(await statusWith('good-key-2')).toBe(429)
})

test('a network without a valid token has its own limit, and another one for unknown tokens', async () => {
  platform = await startPlatform({ anonymousRateLimitPerMinute: 2, unknownTokenRateLimitPerMinute: 20 })
  await get('/itsm/incidents', asAda)
  expect((await get('/itsm/incidents', { ...asAda, Authorization: 'Bearer bad1' })).status).toBe(401)
  expect((await get('/itsm/incidents', { 'X-Workspace': 'acme' })).status).toBe(401)
  const asked = platform.questions.length
  expect((await get('/itsm/incidents', { ...asAda, Authorization: 'Bearer bad2' })).status).toBe(429)
  expect((await call(`${platform.url}/api/v1/auth/token`, { method: 'POST' })).status).toBe(429)
  expect(platform.questions).toHaveLength(asked)
  expect((await get('/itsm/incidents', asAda)).status).toBe(200)
})

test('each client behind a trusted proxy has its own limit', async () => {
  platform = await startPlatform({ anonymousRateLimitPerMinute: 1, trustProxyCidrs: ['127.0.0.0/8'] })
  const signIn = (client: string) =>
    call(`${platform.url}/api/v1/auth/token`, { method: 'POST', headers: { 'X-Forwarded-For': client } })
  const first = await signIn('6.6.6.6, 203.0.113.1')
  expect(first.body.data?.headers).toMatchObject({ 'x-forwarded-for': '203.0.113.1' })
  expect((await signIn('203.0.113.1')).status).toBe(429)
  expect((await signIn('203.0.113.2')).status).toBe(200)
})
