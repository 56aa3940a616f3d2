import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  type FactorState,
  Factors,
  Session,
  SessionDetail,
  SignInPolicy,
  StepUp,
  TokenCreated,
} from '@opsplane/contracts'
import { type ApiClient, waitFor } from '@opsplane/testing'
import { z } from 'zod'
import { createUserClient } from '../membership/users.fixture.js'
import { type Owner, password, type Settings, startSettings } from '../settings.fixture.js'
import { createFactorClient, stepMs } from './factors.fixture.js'

const operator = 'hal@example.com'
let settings: Settings
let factors: ReturnType<typeof createFactorClient>
let ada: Owner
let users: ReturnType<typeof createUserClient>
beforeAll(async () => {
  settings = await startSettings({ OPERATORS: operator })
  factors = createFactorClient(settings)
  ada = await settings.owner('acme')
  users = createUserClient(settings, ada, await settings.as(ada.session, { workspace: 'acme' }))
})
afterAll(() => settings?.stop())

const eventsOf = (userId: string, type: string) =>
  settings.service.sql<{ data: { after: FactorState | null; reason?: string }; source: unknown }[]>`
    select data, source from events
    where stream_id like ${`login/${userId}/%`} and type = ${type} order by position`
const own = (session: string) => settings.as(session)
/** A person with an authenticator app, and the session in which it was added. */
async function enrolled(slug: string) {
  const person = await settings.owner(slug)
  const api = await own(person.session)
  return { ...person, api, ...(await factors.totp(api)) }
}
const challenged = async (email: string) => factors.challengeIn(await factors.login(email))

describe('an authenticator app', () => {
  it('is active from its first valid code, ends the other sessions, and is required at login', async () => {
    const bea = await settings.owner('bea')
    const other = (await factors.login(bea.email)).data(Session).accessToken
    const api = await own(bea.session)
    const begun = await api.post('/auth/factors/totp', { name: 'Phone' })
    expect((await factors.login(bea.email)).status).toBe(201)
    const { id } = begun.data(z.object({ id: z.string() }))
    const wrong = await api.post('/auth/factors/totp/confirm', { id, code: '000000' })
    expect([wrong.status, wrong.error().details[0]?.path]).toEqual([422, '/code'])

    const { id: confirmed, code } = await factors.totp(api)
    expect((await settings.verify(other)).error().code).toBe('invalid_token')
    const listed = (await api.get('/auth/factors')).data(Factors.strict())
    expect(listed).toMatchObject({
      factors: [{ id: confirmed, kind: 'totp', name: 'App', lastUsedAt: null }],
      recoveryCodesLeft: 0,
      passkeys: { available: false, reason: expect.stringContaining('PUBLIC_ORIGIN') },
    })
    expect(JSON.stringify(await eventsOf(bea.userId, 'factor.added'))).toContain(confirmed)
    const ended = await eventsOf(bea.userId, 'session.ended')
    expect(ended.map(({ data }) => data.reason)).toEqual(['factor_added', 'factor_added'])

    const asked = await factors.login(bea.email)
    expect([asked.status, asked.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    const { challenge, methods, passkey, expiresAt } = factors.challengeIn(asked)
    expect([methods, passkey]).toEqual([['totp'], null])
    expect(Date.parse(expiresAt) - factors.nowMs()).toBe(5 * 60_000)
    const { accessToken } = (await factors.answer({ challenge, code: code() })).data(Session)
    const [seen] = (await (await own(accessToken)).get('/auth/sessions')).page(SessionDetail).items
    expect(seen?.methods).toEqual(['password', 'totp'])
    expect((await factors.answer({ challenge, code: code() })).error().code).toBe('invalid_token')
  })

  it('has each code accepted once, even by concurrent requests', async () => {
    const { email, code } = await enrolled('once')
    const present = code()
    const challenges = await Promise.all(Array.from({ length: 5 }, () => challenged(email)))
    const replies = await Promise.all(
      challenges.map(({ challenge }) => factors.answer({ challenge, code: present })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 401, 401, 401, 401])
    // A code of an earlier time step than a used one is invalid as well.
    settings.clock.advance(stepMs)
    const earlier = code()
    settings.clock.advance(stepMs)
    const later = code()
    const [first, second] = [await challenged(email), await challenged(email)]
    expect((await factors.answer({ challenge: first.challenge, code: later })).status).toBe(201)
    const late = await factors.answer({ challenge: second.challenge, code: earlier })
    expect(late.error().code).toBe('invalid_credentials')
  })

  it('is not guessed: five wrong codes from any address end a challenge, and the login is throttled', async () => {
    const { email, userId, code } = await enrolled('guessed')
    const { challenge } = await challenged(email)
    for (let guess = 0; guess < 5; guess++) {
      const reply = await factors.answer({ challenge, code: '000000' })
      expect(reply.error().code).toBe('invalid_credentials')
    }
    expect((await factors.answer({ challenge, code: code() })).error().code).toBe('invalid_token')

    const home = { 'x-forwarded-for': '198.51.100.77' }
    for (let guess = 0; guess < 6; guess++) {
      const { challenge: next } = await challenged(email)
      const reply = await factors.answer({ challenge: next, code: '000000' }, '/auth/token', home)
      expect(reply.error().code).toBe('invalid_credentials')
    }
    const { challenge: last } = await challenged(email)
    const waiting = await factors.answer({ challenge: last, code: code() }, '/auth/token', home)
    expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([429, '1'])
    await waitFor(async () => (await eventsOf(userId, 'login.failed')).length > 0)
  })

  it('answers no expired challenge, and none of another login, purpose or session', async () => {
    const { email, code, session } = await enrolled('over')
    const { challenge: late } = await challenged(email)
    settings.clock.advance(5 * 60_000)
    expect((await factors.answer({ challenge: late, code: code() })).error().code).toBe('invalid_token')
    const other = await enrolled('over-other')
    const { challenge } = await challenged(email)
    const foreign = await factors.answer({ challenge, code: other.code() })
    expect(foreign.error().code).toBe('invalid_credentials')
    for (const made of [challenge, `${challenge.slice(0, -1)}x`, 'ops_sic_', 'x'.repeat(500)]) {
      const stepUp = await (await own(session)).post('/auth/step-up', { challenge: made, code: code() })
      expect(['forbidden', 'invalid_token']).toContain(stepUp.error().code)
    }
    expect((await factors.answer({ challenge, code: code() })).status).toBe(201)
  })

  it('completes no login with a password that was changed meanwhile', async () => {
    const { email, code, api } = await enrolled('changed')
    const { challenge } = await challenged(email)
    const change = { currentPassword: password, newPassword: 'another horse battery' }
    expect((await api.post('/auth/password/change', change)).status).toBe(204)
    expect((await factors.answer({ challenge, code: code() })).error().code).toBe('invalid_credentials')
  })
})

describe('recovery codes', () => {
  it('stand in for a factor once each, in any spelling, until new ones are created', async () => {
    const { email, userId, api } = await enrolled('lost')
    const [first = '', second = '', ...rest] = await factors.recoveryCodes(api)
    expect(rest).toHaveLength(8)
    const challenges = await Promise.all([challenged(email), challenged(email), challenged(email)])
    expect(challenges[0]?.methods).toEqual(['totp', 'recovery_code'])
    const typed = first.toUpperCase().replaceAll('-', ' ')
    const replies = await Promise.all(
      challenges.map(({ challenge }) => factors.answer({ challenge, code: typed })),
    )
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 401, 401])
    expect((await api.get('/auth/factors')).data(Factors).recoveryCodesLeft).toBe(9)
    expect(await eventsOf(userId, 'recovery_codes.used')).toHaveLength(1)
    const [fresh = ''] = await factors.recoveryCodes(api)
    const { challenge } = await challenged(email)
    expect((await factors.answer({ challenge, code: second })).error().code).toBe('invalid_credentials')
    expect((await factors.answer({ challenge, code: fresh })).status).toBe(201)
  })

  it('require a factor, and are removed with the last one', async () => {
    const plain = await own((await settings.owner('plain')).session)
    expect((await plain.post('/auth/recovery-codes')).error().code).toBe('conflict')
    const { api, id, email, session } = await enrolled('leaving')
    await factors.recoveryCodes(api)
    const { challenge } = await challenged(email)
    expect((await api.send('DELETE', `/auth/factors/${id}`)).status).toBe(204)
    expect((await api.get('/auth/factors')).data(Factors)).toMatchObject({
      factors: [],
      recoveryCodesLeft: 0,
    })
    expect((await settings.verify(session)).status).toBe(200)
    expect((await factors.login(email)).status).toBe(201)
    expect((await factors.answer({ challenge, code: '000000' })).error().code).toBe('invalid_credentials')
  })
})

describe('a factor of a login', () => {
  const changes: [string, string, object?][] = [
    ['POST', '/auth/factors/totp', { name: 'App' }],
    ['POST', '/auth/factors/totp/confirm', { id: 'fac_1', code: '000000' }],
    ['POST', '/auth/factors/passkeys/options'],
    ['PATCH', '/auth/factors/fac_1', { name: 'App' }],
    ['DELETE', '/auth/factors/fac_1'],
    ['POST', '/auth/recovery-codes'],
  ]

  it.each(changes)(
    'is changed by no API key, stale session or session without its factor: %s %s',
    async (...change) => {
      const [method, path, body] = change
      const slug = `change-${changes.indexOf(change)}-${method.toLowerCase()}${path.length}`
      const person = await settings.owner(slug)
      const place = { workspace: slug }
      const member = await settings.as(person.session, place)
      const key = (await member.post('/auth/tokens', { name: 'k', scopes: ['itsm:read'] })).data(TokenCreated)
      const codeFor = async (api: ApiClient) => {
        const reply = await api.send(method, path, { body })
        return reply.status < 400 ? 'done' : reply.error().code
      }
      expect(await codeFor(await own(String(key.token)))).toBe('forbidden')
      expect(['forbidden', 'step_up_required']).not.toContain(await codeFor(await own(person.session)))
      await settings.service
        .sql`update sessions set workspace_id = ${person.workspaceId} where account_id = ${person.userId}`
      expect(await codeFor(await own(person.session))).toBe('forbidden')
      await settings.service.sql`update sessions set workspace_id = null where account_id = ${person.userId}`
      const { code } = await factors.totp(await own(person.session))
      const { challenge } = await challenged(person.email)
      const proven = (await factors.answer({ challenge, code: code() })).data(Session).accessToken
      await settings.service.sql`
      update sessions set methods = '{password}' where account_id = ${person.userId} and id <> ${`ses_${proven.split('_')[2]}`}`
      expect(await codeFor(await own(person.session))).toBe('step_up_required')
      expect(['forbidden', 'step_up_required']).not.toContain(await codeFor(await own(proven)))
      settings.clock.advance(10 * 60_000)
      expect(await codeFor(await own(proven))).toBe('step_up_required')
    },
  )

  it('is removed by an admin for a member who lost it, if no other workspace relies on it', async () => {
    const eva = await users.joined('eva@example.com', 'admin')
    const [fay, gus] = [await users.joined('fay@example.com'), await users.joined('gus@example.com')]
    for (const each of [fay, gus]) await factors.totp(await own(each.session))
    const remove = (id: string, api = eva.api) => api.send('DELETE', `/settings/users/${id}/factors`)
    const codes = { name: 'k', scopes: ['credentials:manage'] }
    const key = (await eva.api.post('/auth/tokens', codes)).data(TokenCreated)
    const program = await settings.as(String(key.token), { workspace: 'acme' })
    expect((await remove(fay.userId, program)).error().code).toBe('forbidden')
    expect((await remove(ada.userId)).error().code).toBe('forbidden')
    expect((await remove(eva.userId)).error().code).toBe('forbidden')
    expect((await remove(fay.userId, fay.api)).error().code).toBe('insufficient_scope')
    // Gus owns another workspace: an admin of this one must not remove the factors that protect it.
    await (await own(gus.session)).post('/workspaces', { slug: 'gus' })
    expect((await remove(gus.userId)).error().code).toBe('forbidden')
    // The same applies to an operator of the installation.
    const hal = await users.joined(operator)
    await settings.service.sql`
      update accounts set state = jsonb_set(state::jsonb, '{addressProvenAt}', '"2026-01-01T00:00:00.000Z"')
      where id = ${hal.userId}`
    await factors.totp(await own(hal.session))
    expect((await remove(hal.userId)).error().code).toBe('forbidden')
    expect((await factors.login(operator)).error().code).toBe('factor_required')
    expect((await factors.login('gus@example.com')).error().code).toBe('factor_required')

    expect((await remove(fay.userId)).status).toBe(204)
    expect((await settings.verify(fay.session)).error().code).toBe('invalid_token')
    expect((await factors.login('fay@example.com')).status).toBe(201)
    expect(await eventsOf(fay.userId, 'factor.removed')).toHaveLength(1)

    const removeAny = async (email: string) =>
      (await own(hal.session)).post('/platform/accounts/remove-factors', { email })
    expect((await removeAny(operator)).error().code).toBe('forbidden')
    expect((await removeAny('unknown@example.com')).error().code).toBe('not_found')
    expect((await removeAny('gus@example.com')).status).toBe(204)
    expect((await settings.verify(gus.session)).error().code).toBe('invalid_token')
    expect((await factors.login('gus@example.com')).status).toBe(201)
    const places = await settings.service.sql<{ actor: { id: string } }[]>`
      select actor from events where stream_id like ${`login/${gus.userId}/%`} and type = 'factor.removed'`
    expect(places.map(({ actor }) => actor.id)).toEqual([hal.userId, hal.userId])
  })
})

describe('a browser', () => {
  it('steps up with its factor, not with its password', async () => {
    const { email, code } = await enrolled('browser')
    const asked = await factors.answer({ email, password }, '/auth/session')
    const { challenge } = factors.challengeIn(asked)
    const signedIn = await factors.answer({ challenge, code: code() }, '/auth/session')
    expect(signedIn.status).toBe(201)
    settings.clock.advance(10 * 60_000)
    const api = await own(factors.tokenIn(signedIn))
    expect((await api.post('/auth/recovery-codes')).error().code).toBe('step_up_required')
    const refused = await api.post('/auth/step-up', { password })
    const offered = factors.challengeIn(refused)
    const begun = await api.post('/auth/step-up/options')
    expect(begun.status).toBe(200)
    expect((await factors.answer({ challenge: offered.challenge, code: code() })).error().code).toBe(
      'invalid_token',
    )
    const steppedUp = await api.post('/auth/step-up', { challenge: offered.challenge, code: code() })
    steppedUp.data(StepUp)
    const renewed = await own(factors.tokenIn(steppedUp))
    expect((await renewed.post('/auth/recovery-codes')).status).toBe(201)
    const replayed = await renewed.post('/auth/step-up', { challenge: offered.challenge, code: code() })
    expect(replayed.error().code).toBe('invalid_token')
  })
})

describe('a workspace that requires a second factor', () => {
  const policy = (api: ApiClient, body: object) => api.send('PUT', '/settings/sign-in-policy', { body })
  const enters = async (session: string, workspace: string) => {
    const reply = await settings.verify(session, { workspace })
    return reply.status === 200 ? 'enters' : reply.error().code
  }

  it('admits only sessions with a factor where its policy requires one, and still admits API keys', async () => {
    const owner = await settings.owner('strict')
    const api = await settings.as(owner.session, { workspace: 'strict' })
    const members = createUserClient(settings, owner, api)
    const [agent, viewer] = [
      await members.joined('agent@strict.example', 'agent'),
      await members.joined('viewer@strict.example', 'viewer'),
    ]
    const key = await agent.api.post('/auth/tokens', { name: 'k', scopes: ['itsm:read'] })
    const { token } = key.data(TokenCreated)
    expect((await policy(agent.api, { factorRequired: true })).error().code).toBe('insufficient_scope')
    expect((await policy(api, { factorRequired: true })).error().code).toBe('factor_enrolment_required')
    await factors.totp(await own(owner.session))
    const unknown = await policy(api, { factorRequired: false, factorRoles: ['admin', 'unknown'] })
    expect(unknown.error().details[0]).toMatchObject({ path: '/factorRoles/1', code: 'unknown_role' })

    const some = { factorRequired: false, factorRoles: ['agent'] }
    expect((await policy(api, some)).data(SignInPolicy)).toEqual(some)
    expect([await enters(agent.session, 'strict'), await enters(viewer.session, 'strict')]).toEqual([
      ...['factor_enrolment_required', 'enters'],
    ])
    const all = { factorRequired: true, factorRoles: [] }
    expect((await policy(api, all)).data(SignInPolicy)).toEqual(all)
    expect((await api.get('/settings/sign-in-policy')).data(SignInPolicy)).toEqual(all)
    expect(await enters(viewer.session, 'strict')).toBe('factor_enrolment_required')
    expect(await enters(String(token), 'strict')).toBe('enters')
    expect(await enters(owner.session, 'strict')).toBe('enters')

    const { id } = await factors.totp(await own(viewer.session))
    expect(await enters(viewer.session, 'strict')).toBe('enters')
    expect((await (await own(viewer.session)).send('DELETE', `/auth/factors/${id}`)).status).toBe(204)
    expect(await enters(viewer.session, 'strict')).toBe('factor_enrolment_required')
  })

  it('allows only a signed-in owner to set its policy', async () => {
    const eva = await users.joined('eva-policy@example.com', 'admin')
    expect((await policy(eva.api, { factorRequired: false })).error().code).toBe('forbidden')
    const place = { workspace: 'policied' }
    const api = await settings.as((await settings.owner('policied')).session, place)
    const key = await api.post('/auth/tokens', { name: 'k', scopes: ['workspace:write'] })
    const program = await settings.as(String(key.data(TokenCreated).token), place)
    expect((await policy(program, { factorRequired: false })).error().code).toBe('forbidden')
  })
})

describe('a password alone', () => {
  const Operations = z.object({
    paths: z.record(
      z.string(),
      z.record(z.string(), z.object({ responses: z.record(z.string(), z.unknown()) })),
    ),
  })
  const opening = /schemas\/(Session|BrowserSession|StepUp|TokenCreated)Envelope"/

  it('opens no session and makes no key, by any operation, when the login has a factor', async () => {
    const { paths } = Operations.parse(
      JSON.parse((await settings.internal.get('/internal/openapi.json')).text),
    )
    const doors = Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods).some(({ responses }) => opening.test(JSON.stringify(responses))) ? [path] : [],
    )
    const { email, api, session, workspaceId } = await enrolled('downgrade')
    await settings.service.sql`
      update workspaces set state = jsonb_set(state::jsonb, '{signIn}', '{"factorRequired": true, "factorRoles": []}')::json where id = ${workspaceId}`
    const web = await settings.internal.post('/auth/session', { email, password }, factors.elsewhere())
    expect(web.error().code).toBe('factor_required')
    const { token } = await users.invited(email)
    // Simulates a session that was opened before the factor was added and still exists.
    await settings.service
      .sql`update sessions set methods = '{password}', proved_at = ${settings.clock.now()} where id = ${`ses_${session.split('_')[2]}`}`
    const stale = await own(session)
    const inWorkspace = (await settings.verify(session, { workspace: 'downgrade' })).error().code
    const tried: Record<string, () => Promise<string>> = {
      '/auth/token': async () => (await factors.login(email)).error().code,
      '/auth/session': async () => web.error().code,
      '/auth/invitations/accept': async () => (await users.accept({ token, password })).error().code,
      '/auth/step-up': async () => (await stale.post('/auth/step-up', { password })).error().code,
      '/auth/tokens': async () => inWorkspace,
      '/auth/tokens/rotate': async () => inWorkspace,
    }
    expect(doors.sort()).toEqual(Object.keys(tried).sort())
    for (const door of doors)
      expect([door, await tried[door]?.()]).toEqual([
        door,
        door.startsWith('/auth/tokens') ? 'factor_enrolment_required' : 'factor_required',
      ])
    expect((await api.get('/auth/factors')).status).toBe(200)
  })
})
