import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { SsoLogout, TokenCreated, VerifiedToken } from '@opsplane/contracts'
import type { OidcPerson } from '@opsplane/testing'
import { createFactorClient } from '../factor/factors.fixture.js'
import { createUserClient } from '../membership/users.fixture.js'
import { type Sso, type SsoWorkspace, startSso } from './sso.fixture.js'

let sso: Sso
let acme: SsoWorkspace
beforeAll(async () => {
  sso = await startSso()
  acme = await sso.workspace('acme')
})
afterAll(() => sso?.stop())

let people = 0
const newPerson = (): OidcPerson => {
  const sub = `person-${++people}`
  return { sub, claims: { email: `${sub}@acme.example`, email_verified: true } }
}
const entering = (token: string | null, workspace = 'acme') => sso.settings.verify(token ?? '', { workspace })
const signedIn = async (person = newPerson(), providerId = acme.provider.id) => {
  const { session } = await sso.signIn(providerId, person)
  expect((await entering(session)).status).toBe(200)
  return session
}
const endedBecause = async () => {
  const [last] = await sso.settings.service.sql<{ reason: string }[]>`
    select data->>'reason' as reason from events where type = 'session.ended' order by position desc limit 1`
  return last?.reason
}
const change = (id: string, body: object) => acme.api.patch(`/settings/identity-providers/${id}`, body)

describe('a provider that is turned off', () => {
  it('ends its sessions, and refuses sign-ins in progress', async () => {
    const provider = await sso.connect(acme.api, { name: 'For now' })
    const session = await signedIn(newPerson(), provider.id)
    const other = await signedIn()
    const way = await sso.begin(provider.id, newPerson())
    await change(provider.id, { enabled: false })
    expect((await entering(session)).error().code).toBe('invalid_token')
    expect(await endedBecause()).toBe('provider_revoked')
    expect((await entering(other)).status).toBe(200)
    expect(await sso.finishSignIn(way)).toMatchObject({ error: 'not_found', session: null })
    await change(provider.id, { enabled: true })
    const again = await signedIn(newPerson(), provider.id)
    expect((await acme.api.send('DELETE', `/settings/identity-providers/${provider.id}`)).status).toBe(204)
    expect((await entering(again)).error().code).toBe('invalid_token')
  })
})

describe('a person who is no longer a user', () => {
  it.each([
    ['suspended', (id: string) => acme.api.patch(`/settings/users/${id}`, { status: 'suspended' })],
    ['removed', (id: string) => acme.api.send('DELETE', `/settings/users/${id}`)],
  ])('after being %s cannot sign in through the provider', async (_, remove) => {
    const person = newPerson()
    const session = await signedIn(person)
    const { userId } = (await entering(session)).data(VerifiedToken).principal
    expect((await remove(userId)).status).toBe(200)
    expect((await entering(session)).error().code).toBe('workspace_forbidden')
    expect(await sso.signIn(acme.provider.id, person)).toMatchObject({ error: 'not_a_member', session: null })
  })

  it('can return by an invitation, and link the identity to the login of the invitation', async () => {
    const person = newPerson()
    const { userId } = (await entering(await signedIn(person))).data(VerifiedToken).principal
    await acme.api.send('DELETE', `/settings/users/${userId}`)
    const users = createUserClient(sso.settings, acme.owner, acme.api)
    const joined = await users.joined(String(person.claims.email), 'viewer')
    const api = await sso.settings.as(await sso.browser(joined.email, acme.owner.password))
    expect(await sso.finishSignIn(await sso.begin(acme.provider.id, person, { link: api }))).toMatchObject({
      ...{ status: 303, error: null },
    })
    const back = (await entering(await signedIn(person))).data(VerifiedToken)
    expect(back.principal.userId).toBe(joined.userId)
    const [own] = await sso.settings.service.sql<{ id: string }[]>`
      select id from identities where user_id = ${joined.userId}`
    expect((await api.send('DELETE', `/auth/identities/${own?.id}`)).status).toBe(204)
    expect((await acme.api.send('DELETE', `/auth/identities/${own?.id}`)).error().code).toBe('not_found')
    // The address now belongs to a user with another login.
    expect(await sso.signIn(acme.provider.id, person)).toMatchObject({ error: 'login_exists' })
  })
})

describe('a workspace that requires its provider', () => {
  it('refuses other sessions except those of owners, recorded as one event', async () => {
    const strict = await sso.workspace('strict')
    const users = createUserClient(sso.settings, strict.owner, strict.api)
    const member = await users.joined('member@acme.example', 'developer')
    const made = await member.api.post('/auth/tokens', { name: 'CI', scopes: ['itsm:read'] })
    const boss = await users.joined('boss@acme.example', 'owner')
    const require = () =>
      strict.api.patch(`/settings/identity-providers/${strict.provider.id}`, { required: true })
    // Without a second factor, the owner who requires the provider would lose access.
    expect((await require()).error().code).toBe('factor_enrolment_required')
    const factors = createFactorClient(sso.settings)
    await factors.totp(strict.api)
    expect((await require()).status).toBe(200)

    const refused = (await entering(member.session, 'strict')).error()
    expect(refused).toMatchObject({ code: 'workspace_forbidden', details: [{ code: 'sso_required' }] })
    expect(refused.message).toContain('/auth/sso?workspace=strict')
    const reset = await sso.browser(member.email, acme.owner.password)
    expect((await entering(reset, 'strict')).error().code).toBe('workspace_forbidden')
    const bySso = await sso.signIn(strict.provider.id, newPerson())
    expect((await entering(bySso.session, 'strict')).status).toBe(200)
    const second = await sso.connect(strict.api, { name: 'Not required' })
    const byOther = await sso.signIn(second.id, newPerson())
    expect((await entering(byOther.session, 'strict')).error().code).toBe('workspace_forbidden')
    expect((await entering(made.data(TokenCreated).token, 'strict')).status).toBe(200)

    const entries = () =>
      sso.settings.service.sql<{ data: { after: object } }[]>`
        select data from events where type = 'session.break_glass' and workspace_id = ${strict.owner.workspaceId}`
    // An owner bypasses the provider with a second factor. A password alone only allows adding one.
    expect((await entering(boss.session, 'strict')).error().code).toBe('factor_enrolment_required')
    expect(await entries()).toHaveLength(0)
    await factors.totp(await sso.settings.as(boss.session))
    for (let asked = 0; asked < 2; asked++) expect((await entering(boss.session, 'strict')).status).toBe(200)
    expect(await entries()).toMatchObject([{ data: { after: { userId: boss.userId } } }])
    await strict.api.patch(`/settings/identity-providers/${strict.provider.id}`, { enabled: false })
    expect((await entering(member.session, 'strict')).status).toBe(200)
  })
})

describe('logging out of the platform', () => {
  it('ends the session, and returns the logout address of the provider', async () => {
    const session = await signedIn()
    const api = await sso.settings.as(session ?? '')
    const { location } = (await api.post('/auth/sso/logout')).data(SsoLogout)
    const page = new URL(location ?? '')
    expect(`${page.origin}${page.pathname}`).toBe(`${sso.issuer.issuer}/session/end`)
    expect(page.searchParams.get('id_token_hint')).toMatch(/^ey/)
    expect(page.searchParams.get('post_logout_redirect_uri')).toBe('https://ops.example/')
    expect((await entering(session)).error().code).toBe('invalid_token')
    expect(await endedBecause()).toBe('logout')
    const owner = await sso.settings.as(await sso.browser(acme.owner.email, acme.owner.password))
    expect((await owner.post('/auth/sso/logout')).data(SsoLogout)).toEqual({ location: null })
  })
})

describe('logging out at the provider', () => {
  const event = { 'http://schemas.openid.net/event/backchannel-logout': {} }
  const nowSeconds = () => Math.floor(Date.now() / 1_000)
  let tokens = 0
  const claimsFor = (sub: string, claims: Record<string, unknown> = {}) => ({
    ...{ iss: sso.issuer.issuer, aud: sso.issuer.clientId, iat: nowSeconds(), exp: nowSeconds() + 120 },
    ...{ jti: `token-${++tokens}`, sub, events: event, ...claims },
  })
  const send = async (token: string, providerId = acme.provider.id) => {
    const reply = await fetch(`${sso.settings.service.url}/auth/sso/${providerId}/backchannel-logout`, {
      method: 'POST',
      headers: { ...(await sso.settings.service.headers()), 'x-forwarded-for': `203.0.113.${tokens}` },
      body: new URLSearchParams({ logout_token: token }),
    })
    if (reply.status === 400)
      expect(await reply.json()).toEqual({ error: 'invalid_request', error_description: expect.any(String) })
    expect(reply.headers.get('cache-control')).toBe('no-store')
    return reply.status
  }
  const logoutToken = (claims: Record<string, unknown>, typ = 'logout+jwt') => sso.issuer.sign(claims, typ)

  it('ends only the sessions of that person, once for each token', async () => {
    const person = newPerson()
    const [one, two, other] = [await signedIn(person), await signedIn(person), await signedIn()]
    const token = await logoutToken(claimsFor(person.sub))
    expect(await send(token)).toBe(204)
    for (const ended of [one, two]) expect((await entering(ended)).error().code).toBe('invalid_token')
    expect(await endedBecause()).toBe('provider_logout')
    expect((await entering(other)).status).toBe(200)
    const again = await signedIn(person)
    expect(await send(token)).toBe(400)
    expect((await entering(again)).status).toBe(200)
  })

  it('ends a single session when the token names one', async () => {
    const person = newPerson()
    sso.issuer.tamper = (claims) => ({ ...claims, sid: 'first' })
    const first = await signedIn(person)
    sso.issuer.tamper = (claims) => ({ ...claims, sid: 'second' })
    const second = await signedIn(person)
    sso.issuer.tamper = undefined
    expect(await send(await logoutToken(claimsFor(person.sub, { sub: undefined, sid: 'first' })))).toBe(204)
    expect((await entering(first)).error().code).toBe('invalid_token')
    expect((await entering(second)).status).toBe(200)
  })

  it.each<[string, Record<string, unknown>]>([
    ['for another client', { aud: 'another' }],
    ['of another issuer', { iss: 'https://evil.example' }],
    ['that is an ID token', { events: undefined, nonce: 'n' }],
    ['with a nonce', { nonce: 'n' }],
    ['that names no subject', { sub: undefined }],
    ['without an id', { jti: undefined }],
    ['of an hour ago', { iat: nowSeconds() - 3_600, exp: nowSeconds() + 60 }],
    ['that has ended', { iat: nowSeconds() - 280, exp: nowSeconds() - 200 }],
    ['of tomorrow', { iat: nowSeconds() + 86_400, exp: nowSeconds() + 86_460 }],
    ['without a time', { iat: undefined }],
  ])('rejects a token %s', async (_, claims) => {
    const person = newPerson()
    const session = await signedIn(person)
    expect(await send(await logoutToken(claimsFor(person.sub, claims)))).toBe(400)
    expect((await entering(session)).status).toBe(200)
  })

  it('rejects a token of another type, signed by another issuer, unsigned, or for an unknown provider', async () => {
    const person = newPerson()
    const session = await signedIn(person)
    const claims = () => claimsFor(person.sub)
    const unsigned = [{ alg: 'none' }, claims()].map((part) =>
      Buffer.from(JSON.stringify(part)).toString('base64url'),
    )
    for (const token of [
      await logoutToken(claims(), 'at+jwt'),
      await sso.other.sign(claims(), 'logout+jwt'),
      `${unsigned.join('.')}.`,
      '',
    ])
      expect(await send(token)).toBe(400)
    expect(await send(await logoutToken(claims()), 'idp_01JZ8Q4D3N5W7X9Y2B4C6D8E0F')).toBe(400)
    expect((await entering(session)).status).toBe(200)
  })
})

describe('a network that guesses codes', () => {
  it('is throttled after some attempts, as after wrong passwords', async () => {
    const statuses: number[] = []
    for (let attempt = 0; attempt < 55 && statuses.at(-1) !== 429; attempt++) {
      const way = await sso.begin(acme.provider.id, newPerson())
      way.back.searchParams.set('code', 'guessed')
      statuses.push((await sso.finishSignIn(way, { address: '198.51.100.9' })).status)
    }
    expect(statuses.slice(0, 2)).toEqual([303, 303])
    expect(statuses.at(-1)).toBe(429)
  })
})
