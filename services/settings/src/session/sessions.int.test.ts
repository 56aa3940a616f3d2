import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  BrowserSession,
  eventSchema,
  Session,
  SessionDetail,
  StepUp,
  sessionCookieHeader,
  Token,
  TokenCreated,
  VerifiedToken,
  WorkspaceAccess,
} from '@opsplane/contracts'
import { type ApiClient, type ApiReply, type EventRecorder, recordEvents, waitFor } from '@opsplane/testing'
import { createUserClient } from '../membership/users.fixture.js'
import { type Owner, password, type Settings, startSettings } from '../settings.fixture.js'
import { type StepUpOperation, stepUpOperations } from './step-up.fixture.js'

let settings: Settings
let recorder: EventRecorder
let ada: Owner
let api: ApiClient
let users: ReturnType<typeof createUserClient>
beforeAll(async () => {
  settings = await startSettings()
  recorder = await recordEvents(settings.service.natsPrefix)
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, { workspace: 'acme' })
  users = createUserClient(settings, ada, api)
})
afterAll(async () => {
  await recorder?.stop()
  await settings?.stop()
})

let networks = 0
const login = async (email: string, word = password) =>
  settings.login(email, word, `198.18.${++networks >> 8}.${networks & 255}`)
const loggedIn = async (email: string) => (await login(email)).data(Session).accessToken
const works = async (token: string) => (await settings.verify(token)).status === 200
const idOf = (token: string) => `ses_${token.split('_')[2]}`
const sessionsOf = async (client: ApiClient, path = '/auth/sessions') =>
  (await client.get(path)).page(SessionDetail.strict())

interface Logged {
  type: string
  workspace_id: string
  data: { reason?: string; after?: { failures?: number; refusals?: number; addresses?: string[] } }
}
const eventsOf = (userId: string, type: string) =>
  settings.service.sql<Logged[]>`select type, workspace_id, data from events
    where stream_id like ${`login/${userId}/%`} and type = ${type} order by position`

describe('a session limited to one workspace', () => {
  it('is refused in every other workspace, and lists only its own', async () => {
    const lim = await settings.owner('lim')
    await (await settings.as(lim.session)).post('/workspaces', { name: 'Other', slug: 'lim-other' })
    const slugs = async () =>
      (await (await settings.as(lim.session)).get('/workspaces'))
        .page(WorkspaceAccess)
        .items.map(({ slug }) => slug)
    expect(await slugs()).toEqual(['lim-other', 'lim'])
    await settings.service.sql`
      update sessions set workspace_id = ${lim.workspaceId}, methods = '{sso}' where id = ${idOf(lim.session)}`
    expect(await slugs()).toEqual(['lim'])
    expect((await settings.verify(lim.session, { workspace: 'lim' })).status).toBe(200)
    const refused = await settings.verify(lim.session, { workspace: 'lim-other' })
    expect(refused.error().code).toBe('workspace_forbidden')
  })
})

describe('a logged-in person', () => {
  it('can list the sessions of the login, page by page, and end one of them', async () => {
    const bea = await settings.owner('bea')
    const other = await loggedIn(bea.email)
    const own = await settings.as(bea.session)
    const { items } = await sessionsOf(own)
    expect(items.map(({ id, current, methods }) => [id, current, methods])).toEqual([
      [idOf(other), false, ['password']],
      [idOf(bea.session), true, ['password']],
    ])
    const first = await sessionsOf(own, '/auth/sessions?limit=1')
    const rest = await sessionsOf(own, `/auth/sessions?limit=1&after=${first.pagination.nextCursor}`)
    expect([...first.items, ...rest.items]).toEqual(items)
    expect((await own.send('DELETE', `/auth/sessions/${idOf(other)}`)).status).toBe(204)
    expect([await works(other), await works(bea.session)]).toEqual([false, true])
    expect((await own.send('DELETE', `/auth/sessions/${idOf(other)}`)).error().code).toBe('not_found')
  })

  it('can neither see nor end sessions of others, nor can an API key those of its owner', async () => {
    const cy = await settings.owner('cy')
    const own = await settings.as(cy.session, { workspace: 'cy' })
    expect((await own.send('DELETE', `/auth/sessions/${idOf(ada.session)}`)).error().code).toBe('not_found')
    expect((await own.get(`/settings/users/${ada.userId}/sessions`)).error().code).toBe('not_found')
    const key = (await own.post('/auth/tokens', { name: 'k', scopes: ['itsm:read'] })).data(TokenCreated)
    const program = await settings.as(String(key.token), { workspace: 'cy' })
    expect((await program.get('/auth/sessions')).error().code).toBe('forbidden')
  })

  it('has at most a hundred sessions: another one ends the oldest', async () => {
    const dan = await settings.owner('dan')
    await settings.service.sql`insert into sessions
      select 'ses_0' || lpad(n::text, 25, '0'), 'x', account_id, created_at, last_seen_at, expires_at, address, user_agent
      from sessions, generate_series(1, 99) n where account_id = ${dan.userId}`
    await loggedIn(dan.email)
    const [row] = await settings.service
      .sql`select count(*)::int from sessions where account_id = ${dan.userId}`
    expect(row?.count).toBe(100)
    expect(await works(dan.session)).toBe(true)
    expect((await eventsOf(dan.userId, 'session.ended')).map(({ data }) => data.reason)).toEqual([
      'displaced',
    ])
  })
})

describe('a browser', () => {
  /** A request as the gateway sends it. The session cookie is returned as a header for the gateway. */
  const signIn = (body: object) =>
    settings.internal.post('/auth/session', body, {
      'x-forwarded-for': '198.19.0.1',
      'user-agent': 'Browser',
    })
  const tokenIn = ({ headers }: ApiReply) => headers.get(sessionCookieHeader)?.split(' ') ?? []

  it('signs in by password or invitation, and is shown no token', async () => {
    const lea = await settings.owner('lea')
    const { token: invitation } = await users.invited('max@example.com', 'agent')
    for (const body of [
      { email: lea.email, password },
      { token: invitation, name: 'Max', password },
    ]) {
      const reply = await signIn(body)
      expect(reply.status).toBe(201)
      const session = reply.data(BrowserSession.strict())
      const [token = '', expiresAt] = tokenIn(reply)
      expect(token).toMatch(/^ops_web_/)
      expect(expiresAt).toBe(session.expiresAt)
      expect(reply.text).not.toContain(token.slice(0, 40))
      const { principal } = (await settings.verify(token)).data(VerifiedToken)
      expect(principal.userId).toBe(session.user.id)
    }
    expect((await signIn({ token: invitation, password })).error().code).toBe('invalid_token')
    expect((await signIn({ email: lea.email })).status).toBe(422)
  })

  it('gets a separate session for each sign-in, and its cookie is cleared by a logout', async () => {
    const nia = await settings.owner('nia')
    const credentials = { email: nia.email, password }
    const [[first = ''], [second = '']] = [
      tokenIn(await signIn(credentials)),
      tokenIn(await signIn(credentials)),
    ]
    expect(first).not.toBe(second)
    const logout = await (await settings.as(first)).post('/auth/logout')
    expect([logout.status, logout.headers.get(sessionCookieHeader)]).toEqual([204, ''])
    expect([await works(first), await works(second)]).toEqual([false, true])
  })

  const codeFor = async (client: ApiClient, { method, path }: StepUpOperation) => {
    const reply = await client.send(method, path, method === 'DELETE' ? undefined : {})
    return reply.status < 400 ? 'done' : reply.error().code
  }

  it('must step up before it makes keys or changes rights, ten minutes after the sign-in', async () => {
    const operations = await stepUpOperations(settings)
    expect(operations.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'DELETE /auth/factors/absent',
      'DELETE /auth/identities/absent',
      'DELETE /platform/dead-letters/absent',
      'DELETE /secrets/absent',
      'DELETE /settings/identity-providers/absent',
      'DELETE /settings/roles/absent',
      'DELETE /settings/users/absent',
      'DELETE /settings/users/absent/factors',
      'PATCH /auth/factors/absent',
      'PATCH /settings/identity-providers/absent',
      'PATCH /settings/roles/absent',
      'PATCH /settings/users/absent',
      'POST /auth/factors/passkeys',
      'POST /auth/factors/passkeys/options',
      'POST /auth/factors/totp',
      'POST /auth/factors/totp/confirm',
      'POST /auth/identities',
      'POST /auth/recovery-codes',
      'POST /auth/tokens',
      'POST /auth/tokens/rotate',
      'POST /platform/accounts/remove-factors',
      'POST /platform/accounts/reset-link',
      'POST /platform/dead-letters/absent/redrive',
      'POST /secrets',
      'POST /settings/identity-providers',
      'POST /settings/roles',
      'POST /settings/users/absent/reset-link',
      'POST /settings/users/invite',
      'PUT /secrets/absent',
      'PUT /settings/sign-in-policy',
    ])
    const ron = await settings.owner('ron')
    const [token = ''] = tokenIn(await signIn({ email: ron.email, password }))
    const place = { workspace: 'ron' }
    const key = await (await settings.as(ron.session, place)).post('/auth/tokens', {
      ...{ name: 'k', scopes: ['tokens:manage', 'secrets:write', 'users:write', 'roles:write'] },
    })
    settings.clock.advance(9 * 60_000)
    const early = await settings.as(token, place)
    for (const each of operations)
      expect([each, await codeFor(early, each)]).not.toContain('step_up_required')
    settings.clock.advance(61_000)
    const late = await settings.as(token, place)
    // The caller is not an operator, which is checked first.
    const refusalOf = ({ path }: StepUpOperation) =>
      path.startsWith('/platform/') ? 'forbidden' : 'step_up_required'
    for (const each of operations) expect([each, await codeFor(late, each)]).toContain(refusalOf(each))
    expect((await late.get('/auth/tokens')).status).toBe(200)
    for (const other of [ron.session, String(key.data(TokenCreated).token)]) {
      const client = await settings.as(other, place)
      // Changing factors requires a recent sign-in in every kind of session.
      for (const each of operations.filter(({ path }) => !/^\/auth\/(factors|recovery-codes)/.test(path)))
        expect([each, await codeFor(client, each)]).not.toContain('step_up_required')
    }

    const proof = (body: object) => late.post('/auth/step-up', body)
    expect((await proof({ password: 'wrong' })).error().code).toBe('invalid_credentials')
    expect(await codeOf(token)).toBeUndefined()
    const reply = await proof({ password })
    expect(reply.data(StepUp)).toEqual({ until: at(10 * 60_000) })
    const [renewed = ''] = tokenIn(reply)
    expect(await codeOf(token)).toBe('invalid_token')
    const proved = await settings.as(renewed, place)
    for (const each of operations)
      expect([each, await codeFor(proved, each)]).not.toContain('step_up_required')
    expect(await eventsOf(ron.userId, 'session.stepped_up')).toHaveLength(1)
    const refused = await (await settings.as(ron.session)).post('/auth/step-up', { password })
    expect(refused.error().code).toBe('forbidden')
  })
  const codeOf = async (token: string) => {
    const reply = await settings.verify(token)
    return reply.status === 200 ? undefined : reply.error().code
  }
  const at = (ms: number) => new Date(Date.parse(settings.clock.now()) + ms).toISOString()

  it('can sign out everywhere', async () => {
    const oda = await settings.owner('oda')
    const [token = ''] = tokenIn(await signIn({ email: oda.email, password }))
    const reply = await (await settings.as(token)).send('DELETE', '/auth/sessions')
    expect([reply.status, reply.headers.get(sessionCookieHeader)]).toEqual([204, ''])
    expect([await works(token), await works(oda.session), await works(ada.session)]).toEqual([
      ...[false, false, true],
    ])
    expect((await eventsOf(oda.userId, 'session.ended')).map(({ data }) => data.reason)).toEqual([
      ...['ended_by_user', 'ended_by_user'],
    ])
  })
})

describe('an admin', () => {
  it('can list and end sessions only of users with no more permissions', async () => {
    const eva = await users.joined('eva@example.com', 'admin')
    const fay = await users.joined('fay@example.com', 'agent')
    const path = `/settings/users/${fay.userId}/sessions`
    const [seen] = (await sessionsOf(eva.api, path)).items
    expect(seen).toMatchObject({ userId: fay.userId, current: false })
    expect((await eva.api.send('DELETE', `${path}/${seen?.id}`)).status).toBe(204)
    expect(await works(fay.session)).toBe(false)
    expect((await eva.api.get(`/settings/users/${ada.userId}/sessions`)).error().code).toBe('forbidden')
    const refused = await eva.api.send(
      'DELETE',
      `/settings/users/${ada.userId}/sessions/${idOf(ada.session)}`,
    )
    expect(refused.error().code).toBe('forbidden')
    expect((await fay.api.get(`/settings/users/${eva.userId}/sessions`)).error().code).toBe(
      'insufficient_scope',
    )
  })

  it('can list the keys of all members, and revoke those with no more permissions', async () => {
    const gus = await users.joined('gus@example.com', 'developer')
    const hal = await users.joined('hal@example.com', 'admin')
    const scopes = ['itsm:read']
    const key = (await gus.api.post('/auth/tokens', { name: 'of gus', scopes })).data(TokenCreated)
    const owners = (await api.post('/auth/tokens', { name: 'of ada', scopes: ['owners:manage'] })).data(
      TokenCreated,
    )
    const keysOf = async (query: string) => (await hal.api.get(`/settings/tokens${query}`)).page(Token).items
    expect((await keysOf(`?userId=${gus.userId}`)).map(({ id }) => id)).toEqual([key.id])
    expect((await keysOf('?status=active&limit=200')).map(({ id }) => id)).toContain(owners.id)
    expect((await gus.api.get('/settings/tokens')).error().code).toBe('insufficient_scope')
    const revoke = (id: string) => hal.api.send('DELETE', `/settings/tokens/${id}`)
    expect((await revoke(owners.id)).error().code).toBe('forbidden')
    expect((await revoke(key.id)).data(Token)).toMatchObject({ revocationReason: 'revoked_by_admin' })
    expect(await works(String(key.token))).toBe(false)
  })

  it('of staging can neither see nor revoke keys of production', async () => {
    const scopes = ['credentials:manage', 'itsm:read']
    const make = async (name: string, environments: string[]) =>
      (await api.post('/auth/tokens', { name, scopes, environments })).data(TokenCreated)
    const [production, staging] = [await make('p', ['production']), await make('s', ['staging'])]
    const client = await settings.as(String(staging.token), { workspace: 'acme', environment: 'staging' })
    const seen = (await client.get('/settings/tokens?limit=200')).page(Token).items
    expect(seen.map(({ id }) => id)).toEqual([staging.id])
    expect((await client.send('DELETE', `/settings/tokens/${production.id}`)).error().code).toBe('not_found')
  })
})

describe('a key', () => {
  it('names the session that created it, and outlives that session', async () => {
    const ida = await settings.owner('ida')
    const own = await settings.as(ida.session, { workspace: 'ida' })
    const key = (await own.post('/auth/tokens', { name: 'k', scopes: ['itsm:read'] })).data(TokenCreated)
    expect(key.issuedBy).toBe(idOf(ida.session))
    await own.post('/auth/logout')
    expect([await works(ida.session), await works(String(key.token))]).toEqual([false, true])
  })
})

describe('login events', () => {
  it('report each login and logout once in each workspace of the person', async () => {
    const jo = await users.joined('jo@example.com', 'agent')
    await login('jo@example.com')
    await (await settings.as(jo.session)).post('/auth/logout')
    const started = await eventsOf(jo.userId, 'session.started')
    expect(started.map(({ workspace_id }) => workspace_id)).toEqual([ada.workspaceId, ada.workspaceId])
    const ended = await eventsOf(jo.userId, 'session.ended')
    expect(ended.map(({ data }) => data.reason)).toEqual(['logout'])
    await waitFor(() =>
      recorder.published.some(({ event: { resource } }) => resource.id === idOf(jo.session)),
    )
    for (const { event } of recorder.published)
      if (event.type.startsWith('session.')) eventSchema(event.type as 'session.started').parse(event)
  })

  it('are few for many wrong passwords, and none for unknown addresses', async () => {
    const kim = await settings.owner('kim')
    for (let n = 0; n < 8; n++) await settings.login(kim.email, 'wrong', '192.0.2.77')
    for (let n = 0; n < 8; n++) await settings.login('unknown@example.com', 'wrong', '192.0.2.78')
    const reported = () => eventsOf(kim.userId, 'login.failed')
    await waitFor(async () => {
      if ((await reported()).length > 0) return true
      settings.clock.advance(1_000)
      return undefined
    })
    for (let n = 0; n < 4; n++) await login(kim.email, 'wrong')
    settings.clock.advance(60_000)
    const sum = (events: Logged[]) =>
      events.reduce((total, { data }) => total + (data.after?.failures ?? 0) + (data.after?.refusals ?? 0), 0)
    const events = await waitFor(async () => {
      const found = await reported()
      return sum(found) >= 12 ? found : undefined
    })
    expect(events.length).toBeLessThanOrEqual(3)
    await waitFor(() => recorder.published.find(({ event }) => event.type === 'login.failed'))
    for (const { event } of recorder.published)
      if (event.type === 'login.failed') eventSchema('login.failed').parse(event)
    expect(events[0]?.data.after?.addresses).toContain('192.0.2.77')
    const others = await settings.service
      .sql`select 1 from events where type = 'login.failed' and stream_id not like ${`login/${kim.userId}/%`}`
    expect(others).toHaveLength(0)
  })
})
