import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { defaultRouteRule } from '@opsplane/contracts'
import { asAda, startPlatform, startUpstream, type TestPlatform, type Upstream } from './fixture/platform.js'

const host = 'apps.ops.example'
const main = 'ops.example'
let apps: Upstream
let platform: TestPlatform
beforeAll(async () => {
  const rule = { ...defaultRouteRule, permission: null, access: 'guest' as const }
  apps = await startUpstream(undefined, undefined, [
    { ...rule, operationId: 'page', method: 'get', path: '/origin/apps/:workspace/:slug' },
    { ...rule, operationId: 'run', method: 'post', path: '/origin/apps/:workspace/:slug/-/actions' },
  ])
  platform = await startPlatform({ appsOrigin: `https://${host}` }, { apps: apps.url })
})
afterAll(async () => {
  await platform?.stop()
  await apps?.close()
})

interface Answer {
  status: number | undefined
  location: string | undefined
  body: string
}

/** Does not use fetch, which sets the Host header itself. */
const ask = (asked: string, method: string, path: string, { url } = platform, headers = {}) =>
  new Promise<Answer>((resolve, reject) => {
    request(url, { method, path, headers: { ...asAda, ...headers, host: asked } }, async (answer) => {
      const { statusCode: status, headers } = answer
      resolve({ status, location: headers.location, body: await text(answer) })
    })
      .on('error', reject)
      .end()
  })
const notThere = { status: 404, body: expect.stringContaining('"route_not_found"') }

test.each([
  ['GET', '/apps/acme/assets?environment=staging'],
  ['POST', '/apps/acme/assets/-/actions'],
  ['POST', '/api/v1/auth/token'],
  ['GET', '/healthz'],
])('%s %s is served at the origin of the apps', async (method, path) => {
  expect(await ask(host.toUpperCase(), method, path)).toMatchObject({ status: 200 })
})

test.each([
  ['GET', '/api/v1/itsm/incidents'],
  ['POST', '/api/v1/itsm/incidents'],
  ['GET', '/api/v1/auth/me'],
  ['GET', '/api/v1/apps'],
  ['POST', '/api/v1/auth/token/../../itsm/incidents'],
  ['GET', '/api/v1/docs'],
  ['GET', '/'],
])('%s %s is not found at the origin of the apps, with any token', async (method, path) => {
  const before = platform.questions.length
  expect(await ask(host, method, path)).toMatchObject(notThere)
  expect(platform.questions).toHaveLength(before)
  expect(platform.itsm.requests).toEqual([])
})

test('pages of apps are redirected from the main origin, and their actions are not found there', async () => {
  const path = '/apps/acme/assets?environment=staging'
  expect(await ask(main, 'GET', path)).toMatchObject({ status: 307, location: `https://${host}${path}` })
  const before = apps.requests.length
  expect(await ask(main, 'POST', '/apps/acme/assets/-/actions')).toMatchObject(notThere)
  expect(apps.requests).toHaveLength(before)
  expect(await ask(main, 'GET', '/api/v1/auth/me')).toMatchObject({ status: 200 })
})

describe('with localhost as the public origin', () => {
  const origin = 'http://localhost:8080'
  const opened = { 'sec-fetch-mode': 'navigate' }
  let local: TestPlatform
  beforeAll(async () => {
    const appsOrigin = 'http://apps.localhost:8080'
    local = await startPlatform({ publicOrigin: origin, appsOrigin }, { apps: apps.url })
  })
  afterAll(() => local?.stop())

  test.each(['127.0.0.1:8080', '[::1]:8080'])(
    'a page opened at %s is redirected to localhost',
    async (address) => {
      for (const path of ['/', '/account?tab=sessions', '/api/v1/docs', '//elsewhere.example/'])
        expect(await ask(address, 'GET', path, local, opened)).toMatchObject({
          ...{ status: 307, location: `${origin}${path}` },
        })
      expect(await ask(address, 'GET', '/apps/acme/assets', local, opened)).toMatchObject({
        ...{ status: 307, location: 'http://apps.localhost:8080/apps/acme/assets' },
      })
    },
  )

  test.each<[string, string, string, object]>([
    ['a request of a script', '127.0.0.1:8080', 'GET', { 'sec-fetch-mode': 'cors' }],
    ['a request of a program', '127.0.0.1:8080', 'GET', {}],
    ['a form that is sent', '127.0.0.1:8080', 'POST', opened],
    ['another port', '127.0.0.1:9090', 'GET', opened],
    ['the origin itself', 'localhost:8080', 'GET', opened],
  ])('%s is not redirected', async (_what, host, method, headers) => {
    expect(await ask(host, method, '/api/v1/auth/me', local, headers)).toMatchObject({ status: 200 })
  })

  test('nothing is redirected if the public origin is not localhost', async () => {
    expect(await ask('127.0.0.1', 'GET', '/api/v1/auth/me', platform, opened)).toMatchObject({ status: 200 })
  })
})
