import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { defaultRouteRule, sessionCookieHeader } from '@opsplane/contracts'
import { z } from 'zod'
import type { GatewayConfig } from '../config.js'
import { echo, startPlatform, startUpstream, type TestPlatform, type Upstream } from '../fixture/platform.js'

const host = 'ops.example'
const origin = `https://${host}`
const cookie = '__Host-opsplane_session=ops_web_good'
const expiresAt = '2026-03-01T18:00:00.000Z'

const Body = z.looseObject({
  data: z.looseObject({ headers: z.record(z.string(), z.unknown()).optional() }).optional(),
  error: z.looseObject({ code: z.string(), message: z.string() }).optional(),
})
interface Answer {
  status: number | undefined
  headers: IncomingHttpHeaders
  code: string | undefined
  message: string | undefined
  data: z.infer<typeof Body>['data']
}

/** Does not use fetch, which sets browser headers itself. */
const ask = (
  { url }: { url: string },
  method: string,
  path: string,
  headers: OutgoingHttpHeaders = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    request(url, { method, path, headers: { host, ...headers } }, async (answer) => {
      const { statusCode: status, headers } = answer
      const { data, error } = Body.parse(JSON.parse((await text(answer)) || '{}'))
      resolve({ status, headers, code: error?.code, message: error?.message, data })
    })
      .on('error', reject)
      .end(method === 'POST' ? '{}' : undefined)
  })

const platforms: TestPlatform[] = []
/** Starts a platform whose settings service signs in and out with the same headers as the real one. */
async function start(overrides: Partial<GatewayConfig> = {}, urls: Record<string, string> = {}) {
  const platform = await startPlatform(
    { installationId: 'kq3x9z', appsOrigin: 'https://apps.example', ...overrides },
    urls,
  )
  const answer = platform.settings.handler
  platform.settings.handler = (asked, response) => {
    if (asked.url === '/auth/session')
      response.setHeader(sessionCookieHeader, `ops_web_good_fresh ${expiresAt}`)
    if (asked.url === '/auth/logout') response.setHeader(sessionCookieHeader, '')
    answer(asked, response)
  }
  platforms.push(platform)
  return platform
}
afterAll(async () => {
  for (const platform of platforms) await platform.stop()
})

let platform: TestPlatform
let apps: Upstream
beforeAll(async () => {
  const rule = { ...defaultRouteRule, permission: null, access: 'guest' as const }
  apps = await startUpstream(echo, undefined, [
    { ...rule, operationId: 'page', method: 'get', path: '/origin/apps/:workspace/:slug' },
  ])
  platform = await start({ publicOrigin: origin }, { apps: apps.url })
})
afterAll(() => apps?.close())

const sameOrigin = { 'sec-fetch-site': 'same-origin' }
const inAcme = { 'x-workspace': 'acme' }

describe('a cookie', () => {
  it('authenticates at the API, and is not forwarded to a service', async () => {
    const answer = await ask(platform, 'POST', '/api/v1/itsm/incidents', {
      ...{ cookie: `theme=dark; ${cookie}; lang=de`, ...inAcme, ...sameOrigin },
    })
    expect(answer.status).toBe(200)
    expect(answer.data?.headers?.cookie).toBeUndefined()
    expect(platform.questions.at(-1)?.token).toBe('ops_web_good')
  })

  /** Headers a browser sends, and whether the request counts as one of a page of this origin. */
  const pages: [string, OutgoingHttpHeaders, { reads: boolean; writes: boolean }][] = [
    ['this origin', sameOrigin, { reads: true, writes: true }],
    ['this origin, with an Origin', { ...sameOrigin, origin }, { reads: true, writes: true }],
    ['a sibling site', { 'sec-fetch-site': 'same-site', origin }, { reads: false, writes: false }],
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }, no()],
    ['another site that marks its requests', { 'sec-fetch-site': 'cross-site', ...marked() }, no()],
    ['the address bar', { 'sec-fetch-site': 'none' }, no()],
    ['an old browser', { origin }, { reads: true, writes: true }],
    ['an old browser at another site', { origin: 'https://evil.example', ...marked() }, no()],
    ['an old browser at http', { origin: `http://${host}`, ...marked() }, no()],
    ['an old browser at another port', { origin: `${origin}:8443`, ...marked() }, no()],
    ['a sandboxed frame', { origin: 'null', ...marked() }, no()],
    ['an old browser without an Origin', {}, no()],
    ['an old browser without an Origin, marked', marked(), { reads: true, writes: false }],
    ['an empty mark', { 'x-requested-with': '' }, no()],
  ]
  function no() {
    return { reads: false, writes: false }
  }
  function marked() {
    return { 'x-requested-with': 'console' }
  }

  it.each(pages)(
    'is accepted for reads and writes according to the origin of the request: %s',
    async (_, headers, { reads, writes }) => {
      for (const [method, path, passes] of [
        ['GET', '/api/v1/itsm/incidents', reads],
        ['HEAD', '/api/v1/itsm/incidents', reads],
        ['GET', '/api/v1/auth/me', reads],
        ['POST', '/api/v1/itsm/incidents', writes],
        ['POST', '/api/v1/itsm/guests', writes],
        ['PUT', '/api/v1/itsm/incidents', writes],
        ['PATCH', '/api/v1/itsm/incidents', writes],
        ['DELETE', '/api/v1/itsm/incidents', writes],
        ['POST', '/api/v1/auth/session', writes],
        ['POST', '/api/v1/auth/logout', writes],
      ] as const) {
        const before = platform.questions.length
        const answer = await ask(platform, method, path, { cookie, ...inAcme, ...headers })
        expect([method, path, answer.status]).toEqual([method, path, passes ? 200 : 403])
        if (passes) continue
        expect(answer.headers['set-cookie']).toBeUndefined()
        expect(platform.questions).toHaveLength(before)
        if (method !== 'HEAD') expect(answer.message).toContain(`pages of ${origin} only`)
      }
    },
  )

  it('is rejected with both origins and the variable PUBLIC_ORIGIN in the message', async () => {
    const foreign = { cookie, origin: 'https://console.example', ...inAcme }
    const { code, message } = await ask(platform, 'POST', '/api/v1/itsm/incidents', foreign)
    expect(code).toBe('forbidden')
    expect(message).toContain(origin)
    expect(message).toContain('https://console.example')
    expect(message).toContain('PUBLIC_ORIGIN')
  })

  it.each([
    ['of another name', 'opsplane_session=ops_web_good'],
    ['of another installation', 'opsplane_session_other1=ops_web_good'],
    ['that is no session of a browser', '__Host-opsplane_session=ops_ses_good'],
    ['that is an API key', '__Host-opsplane_session=good'],
    ['that is there twice', `${cookie}; __Host-opsplane_session=ops_web_good_other`],
    ['that is empty', '__Host-opsplane_session='],
  ])('%s is ignored', async (_, other) => {
    const answer = await ask(platform, 'GET', '/api/v1/itsm/incidents', {
      ...{ cookie: other, ...inAcme, ...sameOrigin },
    })
    expect([answer.status, answer.code]).toEqual([401, 'unauthenticated'])
  })

  it('is overridden by Authorization, even an invalid one, and its token is not accepted as Bearer', async () => {
    const asked = (authorization: string) =>
      ask(platform, 'GET', '/api/v1/itsm/incidents', { cookie, authorization, ...inAcme, ...sameOrigin })
    expect((await asked('Bearer good_too')).status).toBe(200)
    expect(platform.questions.at(-1)?.token).toBe('good_too')
    expect((await asked('Bearer bad')).code).toBe('invalid_token')
    expect((await asked('Basic eDp5')).code).toBe('unauthenticated')
    expect((await asked('Bearer ops_web_good')).code).toBe('invalid_token')
  })

  it('authenticates only at the API', async () => {
    const before = platform.questions.length
    const answer = await ask(platform, 'GET', '/apps/acme/assets', { cookie, ...inAcme, ...sameOrigin })
    expect(answer.status).toBe(307)
    const elsewhere = await start({ publicOrigin: origin, appsOrigin: undefined }, { apps: apps.url })
    const page = await ask(elsewhere, 'GET', '/apps/acme/assets', { cookie, ...inAcme, ...sameOrigin })
    expect(page.status).toBe(200)
    expect([platform.questions.length, elsewhere.questions.length]).toEqual([before, 0])
  })
})

describe('signing in', () => {
  const signIn = (at: TestPlatform, headers: OutgoingHttpHeaders = sameOrigin) =>
    ask(at, 'POST', '/api/v1/auth/session', headers)
  const cookieOf = ({ headers }: Answer) => headers['set-cookie']

  it('sets the session as a cookie, and discloses it nowhere else', async () => {
    const answer = await signIn(platform, { ...sameOrigin, cookie })
    expect(cookieOf(answer)).toEqual([
      '__Host-opsplane_session=ops_web_good_fresh; Path=/; Expires=Sun, 01 Mar 2026 18:00:00 GMT; HttpOnly; SameSite=Strict; Secure',
      // The cookie that pages can read only states that a session exists.
      '__Host-opsplane_signed_in=yes; Path=/; Expires=Sun, 01 Mar 2026 18:00:00 GMT; SameSite=Strict; Secure',
    ])
    expect(answer.headers[sessionCookieHeader]).toBeUndefined()
    expect(JSON.stringify([answer.data, { ...answer.headers, 'set-cookie': [] }])).not.toContain('_fresh')
  })

  it('is ended by a logout that clears the cookie; a logout by token keeps it', async () => {
    const logout = await ask(platform, 'POST', '/api/v1/auth/logout', { cookie, ...sameOrigin })
    expect(cookieOf(logout)).toEqual([
      '__Host-opsplane_session=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; HttpOnly; SameSite=Strict; Secure',
      '__Host-opsplane_signed_in=; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT; SameSite=Strict; Secure',
    ])
    const other = await ask(platform, 'POST', '/api/v1/auth/logout', {
      ...{ cookie, authorization: 'Bearer good', ...sameOrigin },
    })
    expect([other.status, cookieOf(other), other.headers[sessionCookieHeader]]).toEqual([
      200,
      undefined,
      undefined,
    ])
  })

  it('sets a cookie named after the installation on http, whatever scheme the client claims', async () => {
    const plain = await start({ host: '127.0.0.1' })
    const own = { ...sameOrigin, host: 'localhost:8080' }
    for (const games of [
      {},
      { 'x-forwarded-proto': 'https' },
      { forwarded: 'proto=https' },
      { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' },
    ]) {
      const [set = ''] = cookieOf(await signIn(plain, { ...own, ...games })) ?? []
      expect(set).toMatch(/^opsplane_session_kq3x9z=ops_web_good_fresh; /)
      expect(set).not.toContain('Secure')
    }
  })

  it("accepts https as the client's scheme from a trusted proxy", async () => {
    const behind = await start({ trustProxyCidrs: ['127.0.0.0/8'] })
    const answer = await signIn(behind, { origin, 'x-forwarded-proto': 'http, https' })
    expect(cookieOf(answer)?.[0]).toMatch(/^__Host-opsplane_session=.*; Secure$/)
    const forged = await signIn(behind, { origin, 'x-forwarded-proto': 'https, http' })
    expect([forged.status, cookieOf(forged)]).toEqual([403, undefined])
  })

  it.each([
    [{ publicOrigin: 'http://127.0.0.1:8080' }, true],
    [{ publicOrigin: 'http://localhost:8080' }, true],
    [{ publicOrigin: 'http://[::1]:8080' }, true],
    [{ publicOrigin: origin }, false],
    [{ publicOrigin: 'https://localhost.example' }, false],
    [{}, false],
  ])('is allowed without an origin for apps only on loopback addresses: %o', async (config, isAllowed) => {
    const shared = await start({ ...config, appsOrigin: undefined })
    const { status, message, headers } = await signIn(shared)
    expect(status).toBe(isAllowed ? 200 : 403)
    expect(headers['set-cookie'] === undefined).toBe(!isAllowed)
    if (!isAllowed) expect(message).toContain('APPS_ORIGIN')
  })
})
