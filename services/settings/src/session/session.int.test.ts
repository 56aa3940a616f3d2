import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  ConfirmedTokens,
  ExecutionRetention,
  Me,
  Session,
  TokenCreated,
  VerifiedToken,
  Workspace,
  WorkspaceAccess,
} from '@opsplane/contracts'
import { type Owner, password, type Settings, startSettings } from '../settings.fixture.js'

const minuteMs = 60_000
let settings: Settings
let ada: Owner

beforeAll(async () => {
  settings = await startSettings()
  ada = await settings.owner('acme')
})
afterAll(() => settings?.stop())

const codeOf = async (token: string) => (await settings.verify(token)).error().code

describe('logging in', () => {
  it('returns a session whose token opens the workspaces it lists', async () => {
    const reply = await settings.login(' ACME@example.com ', password)
    expect(reply.status).toBe(201)
    const session = reply.data(Session)
    expect(session).toMatchObject({
      tokenType: 'Bearer',
      expiresAt: '2026-03-01T18:00:00.000Z',
      user: { id: ada.userId, email: 'acme@example.com' },
      workspaces: [{ id: ada.workspaceId, slug: 'acme', role: 'owner' }],
    })
    const verified = (await settings.verify(session.accessToken, { workspace: 'acme' })).data(VerifiedToken)
    expect(verified.principal).toMatchObject({
      actor: { id: ada.userId, type: 'user', name: 'Owner of acme' },
      userId: ada.userId,
      workspaceId: ada.workspaceId,
      workspaceSlug: 'acme',
      environment: 'production',
    })
    expect(verified.principal.permissions).toContain('workspace:write')
    expect(verified.expiresAt).toBe('2026-03-01T10:30:00.000Z')
  })

  it('answers a wrong password and an unknown e-mail with the same bytes', async () => {
    const replies = [
      await settings.login(ada.email, 'wrong horse battery'),
      await settings.login('unknown@example.com', 'wrong horse battery'),
    ]
    const bodies = replies.map((reply) => {
      expect(reply.status).toBe(401)
      expect(reply.error().code).toBe('invalid_credentials')
      return JSON.stringify(reply.error())
    })
    expect(bodies[0]).toBe(bodies[1])
    expect(replies[0]?.headers.get('www-authenticate')).toBe(replies[1]?.headers.get('www-authenticate'))
  })

  it.each(['guessed@example.com', 'unknown-too@example.com'])(
    'throttles a client that guesses for %s, but not other clients for the same account',
    async (email) => {
      if (email.startsWith('guessed')) await settings.owner('guessed')
      for (let attempt = 0; attempt < 6; attempt++) {
        expect((await settings.login(email, 'guess', '198.51.100.1')).status).toBe(401)
      }
      const slowed = await settings.login(email, 'guess', '198.51.100.1')
      expect(slowed.status).toBe(429)
      expect(slowed.error().code).toBe('rate_limited')
      expect(slowed.headers.get('retry-after')).toBe('1')
      expect((await settings.login(ada.email, password, '198.51.100.1')).status).toBe(201)
      expect((await settings.login(email, 'guess', '198.51.100.2')).status).toBe(401)
      settings.clock.advance(1_000)
      expect((await settings.login(email, 'guess', '198.51.100.1')).status).toBe(401)
    },
  )

  it('throttles an address that tries many accounts', async () => {
    const address = '198.51.100.99'
    for (let attempt = 0; attempt < 51; attempt++) {
      expect((await settings.login(`user${attempt}@example.com`, 'guess', address)).status).not.toBe(429)
    }
    expect((await settings.login('one-more@example.com', 'guess', address)).status).toBe(429)
    expect((await settings.login(ada.email, password)).status).toBe(201)
  })

  it('throttles a browser like other clients, with the same counter', async () => {
    await settings.owner('browsed')
    const guess = { email: 'browsed@example.com', password: 'guess' }
    const from = { 'x-forwarded-for': '198.51.100.21' }
    const signIn = () => settings.internal.post('/auth/session', guess, from)
    for (let attempt = 0; attempt < 6; attempt++) expect((await signIn()).status).toBe(401)
    expect((await signIn()).status).toBe(429)
    expect((await settings.login(guess.email, guess.password, '198.51.100.21')).status).toBe(429)
  })

  it('reports a body without password', async () => {
    const reply = await settings.internal.post('/auth/token', { email: 'not an e-mail' })
    expect(
      reply
        .error()
        .details.map(({ path }) => path)
        .sort(),
    ).toEqual(['/email', '/password'])
  })
})

describe('a session', () => {
  const open = async () => (await settings.login(ada.email, password)).data(Session).accessToken

  it('identifies its user, with and without a workspace', async () => {
    const token = await open()
    const outside = (await (await settings.as(token)).get('/auth/me')).data(Me)
    expect(outside).toMatchObject({
      user: { id: ada.userId },
      credential: { kind: 'session' },
      workspace: null,
      permissions: [],
    })
    const inside = (await (await settings.as(token, { workspace: 'acme' })).get('/auth/me')).data(Me)
    expect(inside).toMatchObject({ workspace: { slug: 'acme', role: 'owner' }, environment: 'production' })
  })

  it('is confirmed in a batch of tokens with the same result as when verified alone', async () => {
    const zoe = await settings.owner('confirmed')
    const [own, ended] = [await open(), await open()]
    await (await settings.as(ended)).post('/auth/logout')
    const api = await settings.as(own, { workspace: 'acme' })
    const body = { name: 'staging only', scopes: ['itsm:read'], environments: ['staging'] }
    const key = (await api.post('/auth/tokens', body)).data(TokenCreated).token ?? ''
    const tokens = [own, ended, key, zoe.session, 'nonsense', `${own.slice(0, -1)}?`, own]
    const places = [{ workspace: 'acme' }, { workspace: 'confirmed' }, { workspace: 'nowhere' }, {}].flatMap(
      (place) => ['production', 'staging'].map((environment) => ({ ...place, environment })),
    )
    const questions = tokens.flatMap((token) => places.map((place) => ({ token, ...place })))
    const reply = await settings.internal.post('/internal/tokens/confirm', { questions })
    const { permissions, answers } = reply.data(ConfirmedTokens)
    const each: (readonly string[] | null)[] = []
    for (const question of questions) {
      const verified = await settings.internal.post('/internal/tokens/verify', question)
      each.push(verified.status === 200 ? verified.data(VerifiedToken).principal.permissions : null)
    }
    expect(answers.map((place) => (place === null ? null : permissions[place]))).toEqual(each)
    // An owner, a key, and tokens without a workspace.
    expect(new Set(permissions.map(String)).size).toBe(permissions.length)
    expect(permissions.map(({ length }) => Math.min(length, 2)).sort()).toEqual([0, 1, 2])
    expect(each).toContain(null)
  })

  it('is invalid after logout', async () => {
    const token = await open()
    expect((await (await settings.as(token)).post('/auth/logout')).status).toBe(204)
    expect(await codeOf(token)).toBe('invalid_token')
  })

  it('expires when it is idle, and at its absolute end when it is used', async () => {
    const [idle, used] = [await open(), await open()]
    for (let minutes = 0; minutes < 8 * 60; minutes += 29) {
      expect((await settings.verify(used)).status).toBe(200)
      settings.clock.advance(29 * minuteMs)
    }
    expect(await codeOf(used)).toBe('token_expired')
    expect(await codeOf(idle)).toBe('token_expired')
  })

  it('is refused with one character changed or as another kind of token', async () => {
    const token = await open()
    expect(await codeOf(`${token.slice(0, -1)}${token.endsWith('a') ? 'b' : 'a'}`)).toBe('invalid_token')
    expect(await codeOf('ops_ses_nothing')).toBe('invalid_token')
    expect(await codeOf(token.replace('ops_ses_', 'ops_key_'))).toBe('invalid_token')
  })
})

describe('workspaces', () => {
  it('are listed page by page, only those of the caller', async () => {
    for (const slug of ['second', 'third']) {
      await settings.internal.post('/internal/bootstrap', {
        ...{ workspaceName: slug, workspaceSlug: slug, userName: 'Ada' },
        ...{ email: ada.email, password: 'another password', existingLogin: 'keep' },
      })
      settings.clock.advance(1_000)
    }
    const stranger = await settings.owner('stranger')
    const { accessToken } = (await settings.login(ada.email, password)).data(Session)
    const api = await settings.as(accessToken)
    const first = (await api.get('/workspaces?limit=2')).page(WorkspaceAccess)
    const rest = (await api.get(`/workspaces?limit=2&after=${first.pagination.nextCursor}`)).page(
      WorkspaceAccess,
    )
    expect([...first.items, ...rest.items].map(({ slug }) => slug)).toEqual(['third', 'second', 'acme'])
    expect(rest.pagination.hasMore).toBe(false)

    const others = await settings.as(stranger.session)
    const foreign = await others.get(`/workspaces?limit=2&after=${first.pagination.nextCursor}`)
    expect(foreign.error().code).toBe('invalid_cursor')
  })

  it('can be changed only under their own slug', async () => {
    const { accessToken } = (await settings.login(ada.email, password)).data(Session)
    const api = await settings.as(accessToken, { workspace: 'acme' })
    const patched = await api.patch('/workspaces/acme', {
      name: 'Acme Ltd',
      settings: { timezone: 'Asia/Tokyo' },
    })
    expect(patched.data(Workspace)).toMatchObject({
      name: 'Acme Ltd',
      settings: { timezone: 'Asia/Tokyo', executionRetentionDays: 90 },
      version: 2,
    })
    expect((await api.get('/workspaces/me')).data(WorkspaceAccess)).toMatchObject({ name: 'Acme Ltd' })
    for (const slug of ['second', 'stranger', 'nowhere']) {
      expect((await api.patch(`/workspaces/${slug}`, { name: 'Mine' })).error().code).toBe('not_found')
      expect((await api.get(`/workspaces/${slug}/stats`)).error().code).toBe('not_found')
    }
    const bad = await api.patch('/workspaces/acme', { settings: { timezone: 'Mars/Olympus' }, slug: 'x' })
    expect(bad.status).toBe(422)
    const stale = await api.patch('/workspaces/acme', { name: 'Old' }, { 'if-match': '"1"' })
    expect(stale.error().code).toBe('precondition_failed')
    await api.patch('/workspaces/acme', { settings: { executionRetentionDays: 7 } })
    const { id } = patched.data(Workspace)
    const asked = await settings.internal.post('/internal/retention', { workspaceIds: [id, 'ws_gone'] })
    expect(asked.data(ExecutionRetention)).toEqual({ days: { [id]: 7 } })
  })

  it('of others are refused like unknown ones', async () => {
    const { accessToken } = (await settings.login(ada.email, password)).data(Session)
    const refusals = await Promise.all(
      ['stranger', 'nowhere'].map((workspace) => settings.verify(accessToken, { workspace })),
    )
    const errors = refusals.map((reply) => reply.error())
    expect(errors[0]?.code).toBe('workspace_forbidden')
    expect(errors[0]).toEqual(errors[1])
  })
})

describe('bootstrap', () => {
  const body = {
    ...{ workspaceName: 'Twice', workspaceSlug: 'twice', userName: 'Bob' },
    ...{ email: 'bob@example.com', password: 'a long password' },
  }
  const run = (fields: object = {}) => settings.internal.post('/internal/bootstrap', { ...body, ...fields })

  it('can be repeated, even concurrently', async () => {
    const replies = await Promise.all([run(), run(), run()])
    const [first, ...others] = replies.map((reply) => reply.text.replace(/"meta".*/, ''))
    expect(replies[0]?.status).toBe(200)
    for (const other of others) expect(other).toBe(first)
  })

  it("refuses another owner's workspace, and short passwords", async () => {
    expect((await run({ email: 'eve@example.com' })).error().code).toBe('conflict')
    expect((await run({ workspaceSlug: 'fresh', password: 'elevenchars' })).status).toBe(422)
  })

  it('is available only to services', async () => {
    const { accessToken } = (await settings.login(ada.email, password)).data(Session)
    const client = await settings.as(accessToken)
    for (const path of ['/internal/bootstrap', '/internal/tokens/verify', '/internal/secrets/resolve']) {
      expect((await client.post(path, body)).error().code).toBe('forbidden')
    }
  })
})
