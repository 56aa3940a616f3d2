import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { InvitedUser, Me, Session, SsoLocation, TokenCreated, User, VerifiedToken } from '@opsplane/contracts'
import type { OidcPerson } from '@opsplane/testing'
import { createUserClient } from '../membership/users.fixture.js'
import { providerAddresses } from './addresses.js'
import { publicOrigin, type Sso, type SsoWorkspace, startSso } from './sso.fixture.js'

let sso: Sso
let acme: SsoWorkspace
beforeAll(async () => {
  sso = await startSso()
  acme = await sso.workspace('acme')
})
afterAll(() => sso?.stop())

let people = 0
/** A new person with an address verified by the provider. */
const newPerson = (claims: Record<string, unknown> = {}): OidcPerson => {
  const sub = `person-${++people}`
  return { sub, claims: { email: `${sub}@acme.example`, email_verified: true, name: sub, ...claims } }
}
const entering = (token: string | null, workspace = 'acme') => sso.settings.verify(token ?? '', { workspace })
const userIdOf = async (token: string | null) => (await entering(token)).data(VerifiedToken).principal.userId
const refusals = () =>
  sso.settings.service.sql<{ reason: string; source: unknown }[]>`
    select data->'after'->>'reason' as reason, source from events
    where type = 'identity_provider.sign_in_refused' order by position`

describe('issuer mix-up', () => {
  it('a response at the callback of another provider is refused', async () => {
    const other = await sso.connect(acme.api, { name: 'Other', issuer: sso.other.issuer })
    const way = await sso.begin(acme.provider.id, newPerson())
    const mixed = await sso.finishSignIn(way, { providerId: other.id })
    expect(mixed).toMatchObject({ status: 401, error: 'invalid_token', session: null })
    expect(await sso.finishSignIn(way)).toMatchObject({ status: 303, error: null })
  })

  it('a response that names another issuer is refused', async () => {
    const way = await sso.begin(acme.provider.id, newPerson())
    expect(way.back.searchParams.get('iss')).toBe(sso.issuer.issuer)
    way.back.searchParams.set('iss', sso.other.issuer)
    expect(await sso.finishSignIn(way)).toMatchObject({ error: 'provider_failed', session: null })
  })

  it.each([
    ['of another issuer', () => ({ iss: sso.other.issuer })],
    ['for another client', () => ({ aud: 'another-client' })],
    ['with another nonce', () => ({ nonce: 'another' })],
    ['without a nonce', () => ({ nonce: undefined })],
  ])('an ID token %s is refused', async (_, change) => {
    sso.issuer.tamper = (claims) => ({ ...claims, ...change() })
    const back = await sso.signIn(acme.provider.id, newPerson())
    sso.issuer.tamper = undefined
    expect(back).toMatchObject({ error: 'provider_failed', session: null })
  })

  it('an ID token signed by another issuer is refused', async () => {
    const { sign } = sso.issuer
    sso.issuer.tamper = (claims) => claims
    sso.issuer.sign = sso.other.sign
    const back = await sso.signIn(acme.provider.id, newPerson())
    Object.assign(sso.issuer, { sign, tamper: undefined })
    expect(back).toMatchObject({ error: 'provider_failed', session: null })
  })
})

describe('an address', () => {
  it.each([
    ['that is not verified', { email_verified: false }, 'address_not_proven'],
    ['of which nothing is said', { email_verified: undefined }, 'address_not_proven'],
    ['that is none', { email: 'no-address' }, 'address_not_proven'],
    ['in a domain that only the operator lists', { email: 'x@other.example' }, 'domain_not_listed'],
    ['below a listed domain', { email: 'x@sub.acme.example' }, 'domain_not_listed'],
    ['that ends like a listed domain', { email: 'x@notacme.example' }, 'domain_not_listed'],
    ['of a user of the workspace', { email: 'acme@acme.example' }, 'login_exists'],
  ])('%s creates no user', async (_, claims, reason) => {
    const users = createUserClient(sso.settings, acme.owner, acme.api)
    if (reason === 'login_exists') await users.joined('acme@acme.example', 'viewer')
    const before = (await acme.api.get('/settings/users?limit=100')).page(User).items.length
    const back = await sso.signIn(acme.provider.id, newPerson(claims))
    expect(back).toMatchObject({ error: reason, session: null })
    expect(back.location?.origin).toBe(publicOrigin)
    expect((await acme.api.get('/settings/users?limit=100')).page(User).items).toHaveLength(before)
    expect((await refusals()).at(-1)).toEqual({
      reason,
      source: { address: '203.0.113.7', userAgent: 'a browser' },
    })
  })

  it('in a domain that the operator does not list cannot be configured for a provider', async () => {
    const listed = await acme.api.patch(`/settings/identity-providers/${acme.provider.id}`, {
      domains: ['acme.example', 'elsewhere.example'],
    })
    expect(listed.error().details).toMatchObject([{ path: '/domains/1', code: 'domain_not_listed' }])
  })
})

describe('a takeover from another workspace', () => {
  /** A workspace whose provider issues arbitrary claims. */
  let evil: SsoWorkspace
  let boss: { userId: string; email: string; session: string }
  beforeAll(async () => {
    evil = await sso.workspace('evil', { issuer: sso.other.issuer })
    boss = await createUserClient(sso.settings, acme.owner, acme.api).joined('boss@acme.example', 'admin')
  })
  const evilSignIn = async (person: OidcPerson) =>
    sso.finishSignIn(await sso.begin(evil.provider.id, person, { issuer: sso.other }))

  it('with the address of another person creates a login without that address, only in that workspace', async () => {
    const back = await evilSignIn({ sub: 'x', claims: { email: boss.email, email_verified: true } })
    const { principal } = (await entering(back.session, 'evil')).data(VerifiedToken)
    expect(principal.userId).not.toBe(boss.userId)
    expect((await entering(back.session)).error().code).toBe('workspace_forbidden')
    // An invitation to the address still refers to its owner.
    const invited = await evil.api.post('/settings/users/invite', { email: boss.email, role: 'viewer' })
    expect(invited.data(InvitedUser).id).toBe(boss.userId)
    expect((await sso.settings.login(boss.email, acme.owner.password)).data(Session).user.id).toBe(
      boss.userId,
    )
  })

  it('with a subject of an issuer that another workspace trusts finds no user of that workspace', async () => {
    const person = newPerson()
    const there = await userIdOf((await sso.signIn(acme.provider.id, person)).session)
    const same = await sso.connect(evil.api, { name: 'Same issuer' })
    const here = await sso.finishSignIn(await sso.begin(same.id, person))
    expect((await entering(here.session, 'evil')).data(VerifiedToken).principal.userId).not.toBe(there)
  })

  it('with a linked provider enters only the workspace of the provider, and changes nothing of the login', async () => {
    const victim = await sso.settings.owner('victim')
    const api = await sso.settings.as(await sso.browser(victim.email, victim.password))
    const linked = await sso.finishSignIn(
      await sso.begin(evil.provider.id, { sub: 'victim', claims: {} }, { issuer: sso.other, link: api }),
    )
    expect(linked).toMatchObject({ status: 303, error: null, session: null })
    const person = { sub: 'victim', claims: { email: 'v@acme.example', email_verified: true } }
    const stolen = await evilSignIn(person)
    expect((await entering(stolen.session, 'evil')).data(VerifiedToken).principal.userId).toBe(victim.userId)
    expect((await entering(stolen.session, 'victim')).error().code).toBe('workspace_forbidden')

    const asVictim = await sso.settings.as(stolen.session ?? '')
    expect((await asVictim.get('/auth/me')).data(Me).user.id).toBe(victim.userId)
    const { routes } = await sso.settings.service
      .asService('gateway')
      .get('/internal/routes')
      .then((reply) => JSON.parse(reply.text).data)
    const changing = routes.filter(
      ({ access, method }: { access: string; method: string }) => access === 'account' && method !== 'get',
    )
    expect(changing.length).toBeGreaterThan(8)
    for (const { method, path, operationId } of changing) {
      if (ofSession.includes(operationId)) continue
      const asked = await asVictim.send(method.toUpperCase(), path.replaceAll(/:\w+/g, 'x'), {
        ...(method !== 'delete' && { body: {} }),
      })
      expect([operationId, asked.error().code, asked.error().message]).toEqual([
        operationId,
        'forbidden',
        expect.stringMatching(/changes nothing of your login|who operate the installation/),
      ])
    }
  })

  it('requires a recent step-up and a browser session for linking', async () => {
    const other = await sso.settings.owner('unproved')
    const wanted = { providerId: evil.provider.id }
    const program = await sso.settings.as(other.session)
    expect((await program.post('/auth/identities', wanted)).error().code).toBe('forbidden')
    const browser = await sso.settings.as(await sso.browser(other.email, other.password))
    sso.settings.clock.advance(11 * 60_000)
    expect((await browser.post('/auth/identities', wanted)).error().code).toBe('step_up_required')
    sso.settings.clock.advance(-11 * 60_000)
  })

  it('with a link cookie whose session has ended links nothing', async () => {
    const other = await sso.settings.owner('signed-out')
    const token = await sso.browser(other.email, other.password)
    const api = await sso.settings.as(token)
    const way = await sso.begin(
      evil.provider.id,
      { sub: 'late', claims: {} },
      { issuer: sso.other, link: api },
    )
    await api.post('/auth/logout')
    expect(await sso.finishSignIn(way)).toMatchObject({ error: 'session_over', session: null })
  })

  it('with an identity of another user links nothing', async () => {
    const person = newPerson()
    await sso.signIn(acme.provider.id, person)
    const other = await sso.settings.owner('second')
    const api = await sso.settings.as(await sso.browser(other.email, other.password))
    const linked = await sso.finishSignIn(await sso.begin(acme.provider.id, person, { link: api }))
    expect(linked).toMatchObject({ error: 'identity_taken', session: null })
  })
})

/** Operations that change only the calling session. */
const ofSession = ['endSession', 'endSsoSession', 'stepUp', 'beginStepUp']

describe('a role by a provider', () => {
  it('is never owner, whatever the claims contain, and an owner remains owner', async () => {
    for (const body of [{ defaultRole: 'owner' }, { roles: [{ value: 'x', role: 'owner' }] }]) {
      const changed = await acme.api.patch(`/settings/identity-providers/${acme.provider.id}`, body)
      expect(changed.error().code).toBe('validation_failed')
    }
    const api = await sso.settings.as(await sso.browser(acme.owner.email, acme.owner.password))
    const person = newPerson()
    await sso.finishSignIn(await sso.begin(acme.provider.id, person, { link: api }))
    const back = await sso.signIn(acme.provider.id, person)
    expect((await entering(back.session)).data(VerifiedToken).principal).toMatchObject({
      ...{ userId: acme.owner.userId, role: 'owner' },
    })
  })

  it('can be configured only by owners in a session, neither by admins nor by API keys', async () => {
    const admin = await createUserClient(sso.settings, acme.owner, acme.api).joined(
      'admin@acme.example',
      'admin',
    )
    const path = `/settings/identity-providers/${acme.provider.id}`
    expect((await admin.api.patch(path, { name: 'Mine' })).error().code).toBe('insufficient_scope')
    const made = await acme.api.post('/auth/tokens', { name: 'CI', scopes: ['owners:manage'] })
    const key = await sso.settings.as(made.data(TokenCreated).token ?? '', { workspace: 'acme' })
    expect((await key.patch(path, { name: 'Mine' })).error().code).toBe('forbidden')
  })
})

describe('replay', () => {
  it.each([
    ['the same answer, once more', async (way: Way) => ({ ...way, used: await sso.finishSignIn(way) })],
    ['the state of another sign-in', async (way: Way) => ({ ...way, back: withState(way.back, 'another') })],
    ['no state', async (way: Way) => ({ ...way, back: withState(way.back, '') })],
    ['another browser', async (way: Way) => ({ ...way, cookie: '' })],
    ['a cookie that was changed', async (way: Way) => ({ ...way, cookie: `${way.cookie.slice(0, -4)}AAAA` })],
  ])('%s does not sign in', async (_, change) => {
    const way = await change(await sso.begin(acme.provider.id, newPerson()))
    expect(await sso.finishSignIn(way)).toMatchObject({ status: 401, error: 'invalid_token', session: null })
  })

  it('the code of another sign-in is refused', async () => {
    const mine = await sso.begin(acme.provider.id, newPerson())
    const theirs = await sso.begin(acme.provider.id, newPerson())
    const injected = new URL(mine.back)
    injected.searchParams.set('code', theirs.back.searchParams.get('code') ?? '')
    expect(await sso.finishSignIn({ ...mine, back: injected })).toMatchObject({
      ...{ error: 'provider_failed', session: null },
    })
  })

  it('a response after ten minutes does not sign in', async () => {
    const way = await sso.begin(acme.provider.id, newPerson())
    sso.settings.clock.advance(10 * 60_000)
    expect(await sso.finishSignIn(way)).toMatchObject({ status: 401, error: 'invalid_token' })
    sso.settings.clock.advance(-10 * 60_000)
  })
})
type Way = Awaited<ReturnType<Sso['begin']>>
const withState = (back: URL, state: string) => {
  const changed = new URL(back)
  changed.searchParams.set('state', state)
  return changed
}

describe('a clock', () => {
  it.each([
    [50, 'provider behind', (now: number) => ({ iat: now - 3_650, exp: now - 50 }), null],
    [50, 'provider ahead', (now: number) => ({ iat: now + 50, nbf: now + 50 }), null],
    [300, 'provider behind', (now: number) => ({ iat: now - 3_900, exp: now - 300 }), 'provider_failed'],
    [300, 'provider ahead', (now: number) => ({ nbf: now + 300 }), 'provider_failed'],
  ])('is accepted only within the tolerance: %d seconds off, %s', async (_, __, times, error) => {
    sso.issuer.tamper = (claims) => ({ ...claims, ...times(Math.floor(Date.now() / 1_000)) })
    const back = await sso.signIn(acme.provider.id, newPerson())
    sso.issuer.tamper = undefined
    expect([back.error, back.session === null]).toEqual([error, error !== null])
  })
})

describe('a host claimed by the client', () => {
  it('does not change where the provider redirects the browser', async () => {
    for (const games of [
      { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'http' },
      { forwarded: 'host=evil.example;proto=http' },
      { origin: 'https://evil.example', referer: 'https://evil.example/' },
    ]) {
      const wanted = { providerId: acme.provider.id }
      const started = await sso.settings.internal.post('/auth/sso/start', wanted, games)
      const location = new URL(started.data(SsoLocation).location)
      expect(location.searchParams.get('redirect_uri')).toBe(acme.provider.redirectUri)
      expect(acme.provider.redirectUri).toBe(`${publicOrigin}/api/v1/auth/sso/${acme.provider.id}/callback`)
      expect(location.searchParams.get('code_challenge_method')).toBe('S256')
    }
  })

  it('is not used when there is no public origin: no sign-in begins', () => {
    expect(() => providerAddresses(undefined).redirectUri(acme.provider.id)).toThrow('PUBLIC_ORIGIN')
  })
})

describe('an issuer', () => {
  it.each([
    'http://169.254.169.254',
    'https://10.0.0.1',
    'http://issuer.example',
    'https://u:p@issuer.example',
  ])('%s is not called', async (issuer) => {
    const made = await acme.api.post('/settings/identity-providers', {
      ...{ name: 'Inside', issuer, clientId: 'x', clientSecret: 'y' },
    })
    expect(made.error().details).toMatchObject([{ path: '/issuer' }])
  })
})
