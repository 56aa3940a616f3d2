import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals'
import {
  BrowserSession,
  Me,
  ResetLink,
  Session,
  SessionDetail,
  sessionCookieHeader,
  TokenCreated,
} from '@opsplane/contracts'
import type { ApiClient, ApiReply } from '@opsplane/testing'
import { createFactorClient } from '../factor/factors.fixture.js'
import { createUserClient, type JoinedUser } from '../membership/users.fixture.js'
import { type Owner, password, type Settings, startSettings } from '../settings.fixture.js'

const next = 'another good password'
const hourMs = 3_600_000
const boss = 'boss@example.com'

let settings: Settings
/** Owners of two workspaces; the first one also operates the installation. */
let ada: Owner
let bea: Owner
let api: ApiClient
let inAcme: ReturnType<typeof createUserClient>
let inBeta: ReturnType<typeof createUserClient>
let admin: JoinedUser

beforeAll(async () => {
  settings = await startSettings({
    PUBLIC_ORIGIN: 'https://ops.example',
    OPERATORS: `ada@example.com, ${boss}`,
  })
  ada = await settings.owner('ada')
  bea = await settings.owner('bea')
  api = await settings.as(ada.session, { workspace: 'ada' })
  inAcme = createUserClient(settings, ada, api)
  inBeta = createUserClient(settings, bea, await settings.as(bea.session, { workspace: 'bea' }))
  admin = await inAcme.joined('admin@example.com', 'admin')
})
afterAll(() => settings?.stop())

let made = 0
const email = () => `person${++made}@example.com`
const from = () => ({ 'x-forwarded-for': `198.51.100.${++made}` })
const linkFor = (userId: string, client: ApiClient = admin.api): Promise<ApiReply> =>
  client.post(`/settings/users/${userId}/reset-link`)
const reset = (token: string, newPassword = next) =>
  settings.internal.post('/auth/password/reset/confirm', { token, newPassword }, from())
const logIn = (address: string, word: string) => settings.login(address, word, `203.0.113.${++made}`)
/** A member of both workspaces, with one password. */
async function memberOfBoth(role = 'viewer'): Promise<JoinedUser> {
  const joined = await inAcme.joined(email())
  const { token } = await inBeta.invited(joined.email, role)
  expect((await inBeta.accept({ token, password }, from()['x-forwarded-for'])).status).toBe(201)
  return joined
}

describe('a reset link of an admin', () => {
  it('sets a new password once and ends all sessions, but proves no address', async () => {
    const person = await inAcme.joined(email())
    const made = (await linkFor(person.userId)).data(ResetLink)
    expect(made.link).toBe(`https://ops.example/reset#token=${made.token}`)
    const [row] = await settings.service
      .sql`select t::text as row from account_tokens t where account_id = ${person.userId}`
    expect(row?.row).not.toContain(made.token.slice(-38))

    expect((await reset(made.token)).status).toBe(204)
    expect((await reset(made.token, password)).error().code).toBe('invalid_token')
    expect((await settings.verify(person.session)).status).toBe(401)
    expect((await logIn(person.email, password)).status).toBe(401)
    const session = (await logIn(person.email, next)).data(Session)
    expect(session.user.addressProvenAt).toBeNull()
  })

  it('is recorded in the audit log with actor, subject and source, and without the token', async () => {
    const person = await inAcme.joined(email())
    const client = await settings.as(admin.session, { workspace: 'ada' })
    const made = (
      await client.post(`/settings/users/${person.userId}/reset-link`, undefined, {
        ...{ 'x-forwarded-for': '192.0.2.9', 'user-agent': 'browser/1.0' },
      })
    ).data(ResetLink)
    const rows = await settings.service.sql<{ event: Record<string, unknown> }[]>`
      select to_json(e) as event from events e
      where type = 'account.reset_link_created' and resource->>'id' = ${person.userId}`
    expect(rows).toHaveLength(1)
    expect(rows[0]?.event).toMatchObject({
      ...{ workspace_id: ada.workspaceId, actor: { id: admin.userId } },
      source: { address: '192.0.2.9', userAgent: 'browser/1.0' },
    })
    expect(JSON.stringify(rows)).not.toContain(made.token)
  })

  it('expires after an hour, and is replaced by the next link', async () => {
    const person = await inAcme.joined(email())
    const first = (await linkFor(person.userId)).data(ResetLink)
    const second = (await linkFor(person.userId)).data(ResetLink)
    expect((await reset(first.token)).error().code).toBe('invalid_token')
    settings.clock.advance(hourMs)
    expect((await reset(second.token)).error().code).toBe('invalid_token')
  })
})

describe('a browser that signs in with a reset token', () => {
  const signIn = (body: object) => settings.internal.post('/auth/session', body, from())

  it('is asked for the second factor of the login after the password is set', async () => {
    const person = await inAcme.joined(email())
    const factors = createFactorClient(settings)
    const { code } = await factors.totp(await settings.as(person.session))
    const { token: resetToken } = (await linkFor(person.userId)).data(ResetLink)
    const reply = await signIn({ resetToken, newPassword: next })
    const { challenge } = factors.challengeIn(reply)
    expect(reply.headers.get(sessionCookieHeader)).toBeNull()
    expect((await logIn(person.email, next)).error().code).toBe('factor_required')
    expect((await logIn(person.email, password)).error().code).toBe('invalid_credentials')
    expect((await signIn({ challenge, code: code() })).status).toBe(201)
  })

  it('signs in once with a new password, receives no token in the body, and ends all earlier sessions', async () => {
    const person = await inAcme.joined(email())
    const { token: resetToken } = (await linkFor(person.userId)).data(ResetLink)
    const reply = await signIn({ resetToken, newPassword: next })
    expect(reply.status).toBe(201)
    expect(reply.data(BrowserSession.strict()).user.id).toBe(person.userId)
    const [cookie = ''] = reply.headers.get(sessionCookieHeader)?.split(' ') ?? []
    const [session] = (await (await settings.as(cookie)).get('/auth/sessions')).page(SessionDetail).items
    expect(session).toMatchObject({ current: true, methods: ['reset'] })
    expect((await settings.verify(person.session)).status).toBe(401)
    expect((await logIn(person.email, next)).status).toBe(201)
    expect((await signIn({ resetToken, newPassword: next })).error().code).toBe('invalid_token')
  })

  it('is refused with another token or a password that is too short', async () => {
    const person = await inAcme.joined(email())
    const { token: resetToken } = (await linkFor(person.userId)).data(ResetLink)
    expect((await signIn({ resetToken, newPassword: 'short' })).status).toBe(422)
    for (const wrong of [person.session, 'ops_act_wrong', `${resetToken.slice(0, -1)}_`])
      expect((await signIn({ resetToken: wrong, newPassword: next })).error().code).toBe('invalid_token')
    expect((await logIn(person.email, password)).status).toBe(201)
  })
})

describe('no admin gets into a login with more rights', () => {
  const theWay = /POST \/platform\/accounts\/reset-link/

  test.each<[string, () => Promise<string>]>([
    ['an owner of their workspace', async () => (await inAcme.joined(email(), 'owner')).userId],
    ['a member who owns another workspace', async () => (await memberOfBoth('owner')).userId],
    ['a member with the least role in another workspace', async () => (await memberOfBoth()).userId],
    [
      'a member who is suspended in another workspace, for now',
      async () => {
        const { userId } = await memberOfBoth()
        await inBeta.patch(userId, { status: 'suspended' })
        return userId
      },
    ],
    [
      'a member who operates the installation',
      async () => {
        const { userId } = await inAcme.joined(boss, 'viewer')
        await settings.service.sql`
          update accounts set state = jsonb_set(state::jsonb, '{addressProvenAt}', '"2026-01-01T00:00:00.000Z"')
          where id = ${userId}`
        return userId
      },
    ],
  ])('rejects a reset link for %s', async (_who, person) => {
    const refused = (await linkFor(await person())).error()
    expect(refused.code).toBe('forbidden')
    expect(refused.message).toMatch(theWay)
  })

  it('rejects a reset link for a login that is not an active member of the workspace', async () => {
    expect((await linkFor(bea.userId)).error().code).toBe('not_found')
    const suspended = await inAcme.joined(email())
    await inAcme.patch(suspended.userId, { status: 'suspended' })
    expect((await linkFor(suspended.userId)).error().code).toBe('not_found')
    const invited = await inAcme.invited(email())
    expect((await linkFor(invited.id)).error().code).toBe('not_found')
  })

  it("rejects a reset link requested by an API key or for the admin's own login", async () => {
    const person = await inAcme.joined(email())
    const wanted = { name: 'k', scopes: ['credentials:manage'] }
    const { token } = (await api.post('/auth/tokens', wanted)).data(TokenCreated)
    const key = await settings.as(String(token), { workspace: 'ada' })
    expect((await linkFor(person.userId, key)).error().code).toBe('forbidden')
    expect((await linkFor(admin.userId)).error().code).toBe('forbidden')
    expect((await linkFor(person.userId, person.api)).error().code).toBe('insufficient_scope')
  })

  it('allows a reset link for a member who is only invited to another workspace', async () => {
    const person = await inAcme.joined(email())
    await inBeta.invite(person.email, 'owner')
    expect((await linkFor(person.userId)).status).toBe(201)
  })

  test.each<[string, (person: JoinedUser, issuer: JoinedUser) => Promise<unknown>]>([
    [
      'the person has joined another workspace',
      async (person) => {
        const { token } = await inBeta.invited(person.email)
        return inBeta.accept({ token, password }, from()['x-forwarded-for'])
      },
    ],
    ['the person may do more', (person) => inAcme.patch(person.userId, { role: 'owner' })],
    ['the person was suspended', (person) => inAcme.patch(person.userId, { status: 'suspended' })],
    ['the person was removed', (person) => inAcme.remove(person.userId)],
    ['the admin may do less', (_person, issuer) => inAcme.patch(issuer.userId, { role: 'viewer' })],
    ['the admin was removed', (_person, issuer) => inAcme.remove(issuer.userId)],
  ])('rejects a link that was created before a change: %s', async (_what, happens) => {
    const issuer = await inAcme.joined(email(), 'admin')
    const person = await inAcme.joined(email())
    const { token } = (await linkFor(person.userId, issuer.api)).data(ResetLink)
    await happens(person, issuer)
    expect((await reset(token)).error().code).toBe('invalid_token')
    expect((await logIn(person.email, password)).status).toBe(201)
  })
})

it('a reset link and an invitation to another workspace, used at the same time, do not both succeed', async () => {
  for (let round = 0; round < 6; round++) {
    const person = await inAcme.joined(email())
    const { token: invitation } = await inBeta.invited(person.email)
    const { token } = (await linkFor(person.userId)).data(ResetLink)
    const [used, accepted] = await Promise.all([
      reset(token),
      inBeta.accept({ token: invitation, password }, from()['x-forwarded-for']),
    ])
    expect([used.status, accepted.status].filter((status) => status < 300)).toHaveLength(1)
  }
})

describe('a reset link of the operator', () => {
  const forAnyone = (address: string, client: ApiClient) =>
    client.post('/platform/accounts/reset-link', { email: address })

  it('can be created for any login, and proves no address', async () => {
    const operator = await settings.as((await logIn(ada.email, password)).data(Session).accessToken)
    const person = await memberOfBoth('owner')
    const made = (await forAnyone(person.email, operator)).data(ResetLink)
    expect((await reset(made.token)).status).toBe(204)
    const session = (await logIn(person.email, next)).data(Session)
    const client = await settings.as(session.accessToken)
    expect((await client.get('/auth/me')).data(Me)).toMatchObject({
      operator: false,
      user: { addressProvenAt: null },
    })
    expect((await forAnyone('unknown@example.com', operator)).error().code).toBe('not_found')
  })

  it('can be created by no other caller', async () => {
    const person = await inAcme.joined(email())
    const other = await settings.as((await logIn(bea.email, password)).data(Session).accessToken)
    const { token } = (await api.post('/auth/tokens', { name: 'o', scopes: ['credentials:manage'] })).data(
      TokenCreated,
    )
    for (const client of [other, await settings.as(String(token)), person.api])
      expect((await forAnyone(person.email, client)).error().code).toBe('forbidden')
  })
})
