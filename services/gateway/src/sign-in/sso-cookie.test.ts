import { type IncomingHttpHeaders, type OutgoingHttpHeaders, request, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { sessionCookieHeader, ssoCookieHeader } from '@opsplane/contracts'
import { waitFor } from '@opsplane/testing'
import { startPlatform, type TestPlatform } from '../fixture/platform.js'

const host = 'ops.example'
const origin = `https://${host}`
const start = '/api/v1/auth/sso/start'
const callback = '/api/v1/auth/sso/idp_1/callback?code=c&state=s'
const cookie = '__Host-opsplane_sso=v1.sealed'
const sameOrigin = { 'sec-fetch-site': 'same-origin' }
/** Headers that a browser sends when a provider redirects to us. */
const navigation = {
  'sec-fetch-site': 'cross-site',
  'sec-fetch-mode': 'navigate',
  'sec-fetch-dest': 'document',
}
const expiresAt = '2026-03-01T10:10:00.000Z'

interface Answer {
  status: number | undefined
  headers: IncomingHttpHeaders
}

let platform: TestPlatform
/** Responses that settings delays while it waits for an identity provider. */
const slow: ServerResponse[] = []
beforeAll(async () => {
  platform = await startPlatform({
    ...{ installationId: 'kq3x9z', publicOrigin: origin, appsOrigin: 'https://apps.example' },
  })
  platform.settings.handler = (asked, response) => {
    if (asked.url?.startsWith('/auth/sso/idp_slow')) {
      slow.push(response)
      return
    }
    if (asked.url === '/auth/sso/start') response.setHeader(ssoCookieHeader, `v1.fresh ${expiresAt}`)
    if (!asked.url?.startsWith('/auth/sso/idp_1')) return response.end('{}')
    response.setHeader(ssoCookieHeader, '')
    response.setHeader(sessionCookieHeader, `ops_web_fresh ${expiresAt}`)
    return response.writeHead(303, { location: `${origin}/incidents` }).end()
  }
})
afterAll(() => platform?.stop())

const ask = (method: string, path: string, headers: OutgoingHttpHeaders): Promise<Answer> =>
  new Promise((resolve, reject) => {
    request(platform.url, { method, path, headers: { host, ...headers } }, (answer) => {
      answer.resume()
      resolve({ status: answer.statusCode, headers: answer.headers })
    })
      .on('error', reject)
      .end(method === 'POST' ? '{}' : undefined)
  })
/** The cookie's value in the last request to settings. */
const given = () => platform.settings.requests.at(-1)?.headers[ssoCookieHeader]

describe('the cookie of a sign-in at an identity provider', () => {
  it('is set for the navigation back, for minutes, and disclosed nowhere else', async () => {
    const { status, headers } = await ask('POST', start, sameOrigin)
    expect(status).toBe(200)
    expect(headers['set-cookie']).toEqual([
      '__Host-opsplane_sso=v1.fresh; Path=/; Expires=Sun, 01 Mar 2026 10:10:00 GMT; HttpOnly; SameSite=Lax; Secure',
    ])
    expect(headers[ssoCookieHeader]).toBeUndefined()
  })

  it('is forwarded to settings on the callback, and replaced by the session cookie', async () => {
    const { status, headers } = await ask('GET', callback, { cookie, ...navigation })
    expect([status, headers.location, given()]).toEqual([303, `${origin}/incidents`, 'v1.sealed'])
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(/^__Host-opsplane_session=ops_web_fresh; .*SameSite=Strict; Secure$/),
      expect.stringMatching(/^__Host-opsplane_signed_in=yes; /),
      expect.stringMatching(/^__Host-opsplane_sso=; .*Expires=Thu, 01 Jan 1970/),
    ])
  })

  it.each([
    ['another operation', 'POST', start, { cookie, ...sameOrigin }],
    ['a header of the client', 'GET', callback, { [ssoCookieHeader]: 'v1.forged', ...navigation }],
    ['two values', 'GET', callback, { cookie: `${cookie}; __Host-opsplane_sso=v1.other`, ...navigation }],
    ['the name of http', 'GET', callback, { cookie: 'opsplane_sso_kq3x9z=v1.sealed', ...navigation }],
  ])('is not forwarded for %s', async (_, method, path, headers) => {
    const before = platform.settings.requests.length
    await ask(method, path, headers)
    expect(platform.settings.requests).toHaveLength(before + 1)
    expect(given()).toBeUndefined()
  })

  it.each([
    ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
    ['a sibling site', { 'sec-fetch-site': 'same-site' }],
    ['an old browser at another site', { origin: 'https://evil.example' }],
    ['the address bar', { 'sec-fetch-site': 'none' }],
  ])('is not set for a page of %s', async (_, headers) => {
    const before = platform.settings.requests.length
    const { status, headers: answered } = await ask('POST', start, headers)
    expect([status, answered['set-cookie']]).toEqual([403, undefined])
    expect(platform.settings.requests).toHaveLength(before)
  })
})

describe('sign-ins that wait for an identity provider', () => {
  it('do not block other logins from the same network', async () => {
    const waiting = Array.from({ length: 20 }, () =>
      ask('GET', callback.replace('idp_1', 'idp_slow'), { cookie, ...navigation }),
    )
    await waitFor(() => slow.length === waiting.length)
    expect((await ask('POST', '/api/v1/auth/token', {})).status).toBe(200)
    for (const response of slow) response.end('{}')
    await Promise.all(waiting)
  })
})
