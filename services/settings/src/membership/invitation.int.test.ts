import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { InvitedUser, Session, User } from '@opsplane/contracts'
import type { ApiClient } from '@opsplane/testing'
import { type Owner, password, type Settings, startSettings } from '../settings.fixture.js'
import { createUserClient } from './users.fixture.js'

const hourMs = 3_600_000

let settings: Settings
let ada: Owner
let api: ApiClient
let users: ReturnType<typeof createUserClient>

beforeAll(async () => {
  settings = await startSettings()
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, { workspace: 'acme' })
  users = createUserClient(settings, ada, api)
})
afterAll(() => settings?.stop())

const someone = { name: 'New Person', password }
const statusOf = async (userId: string) => (await api.get(`/settings/users/${userId}`)).data(User).status
const withoutRequestId = (text: string) => text.replace(/"requestId":"[^"]+"/, '')

describe('an invitation', () => {
  it('can be accepted once, even concurrently', async () => {
    const { token, id } = await users.invited('once@example.com')
    const replies = await Promise.all(Array.from({ length: 20 }, () => users.accept({ token, ...someone })))
    const accepted = replies.filter(({ status }) => status === 201)
    expect(accepted).toHaveLength(1)
    for (const reply of replies.filter(({ status }) => status !== 201)) {
      // This many attempts with one token from one network may also be throttled.
      expect(['invalid_token', 'invalid_credentials', 'rate_limited']).toContain(reply.error().code)
    }
    expect(await statusOf(id)).toBe('active')
    const events = await settings.service.sql`
      select 1 from events where type = 'user.activated' and resource->>'id' = ${id}`
    expect(events).toHaveLength(1)
  })

  it('gets the same response when it is unknown, altered, used, replaced, ended or expired', async () => {
    const used = await users.invited('used@example.com')
    await users.accept({ token: used.token, ...someone })
    const replaced = await users.invited('replaced@example.com')
    const { token: latest } = await users.invited('replaced@example.com')
    const ended = await users.invited('ended@example.com')
    await users.remove(ended.id)
    const over = await users.invited('over@example.com', 'developer', { expiresInHours: 1 })
    settings.clock.advance(hourMs)
    const forged = latest.slice(0, 35) + used.token.slice(35)

    const wrong = [
      used.token,
      replaced.token,
      ended.token,
      over.token,
      forged,
      'ops_inv_nothing',
      ada.session,
    ]
    const replies = await Promise.all(wrong.map((token) => users.accept({ token, ...someone })))
    for (const reply of replies) {
      expect(reply.status).toBe(401)
      expect(reply.error().code).toBe('invalid_token')
      expect(withoutRequestId(reply.text)).toBe(withoutRequestId(replies[0]?.text ?? ''))
    }
    expect((await users.accept({ token: latest, ...someone })).status).toBe(201)
  })

  it('allows nothing except its acceptance', async () => {
    const { token } = await users.invited('narrow@example.com')
    expect((await settings.verify(token, { workspace: 'acme' })).error().code).toBe('invalid_token')
  })

  it('is stored only as a hash, and in plain text in no table and no event', async () => {
    const { token, email } = await users.invited('hashed@example.com')
    const kept = await settings.service.sql`
      select to_jsonb(m)::text as row from memberships m where state->>'email' = ${email}
      union all select to_jsonb(e)::text from events e`
    expect(JSON.stringify(kept)).toContain('tokenHash')
    expect(JSON.stringify(kept)).not.toContain(token.slice(-38))
    const [event] = await settings.service.sql<{ data: unknown }[]>`
      select data from events where type = 'user.invited' order by position desc limit 1`
    expect(JSON.stringify(event?.data)).not.toContain('tokenHash')
  })

  it('is repeated by Idempotency-Key without the token', async () => {
    const send = () =>
      api.post(
        '/settings/users/invite',
        { email: 'twice@example.com', role: 'viewer' },
        { 'idempotency-key': 'invite-one' },
      )
    const first = (await send()).data(InvitedUser)
    const again = await send()
    expect(again.status).toBe(201)
    expect(again.headers.get('idempotency-replayed')).toBe('true')
    expect(again.data(InvitedUser)).toEqual({ ...first, invitation: { ...first.invitation, token: null } })
    expect((await users.accept({ token: first.invitation.token, ...someone })).status).toBe(201)
  })

  it('requires an e-mail, an existing role, and an expiry within 30 days', async () => {
    expect((await users.invite('no-address')).error().details[0]?.path).toBe('/email')
    expect((await users.invite('a@example.com', 'wizard')).error().details[0]?.code).toBe('unknown_role')
    expect((await users.invite('a@example.com', 'viewer', { expiresInHours: 721 })).status).toBe(422)
    expect((await users.invite('a@example.com', 'viewer', { status: 'active' })).status).toBe(422)
  })

  it('is refused for members and for suspended users', async () => {
    expect((await users.invite(ada.email)).error().code).toBe('conflict')
    const { userId, email } = await users.joined('kept-out@example.com')
    await users.patch(userId, { status: 'suspended' })
    expect((await users.invite(email)).error().code).toBe('invalid_state_transition')
  })
})

describe('accepting an invitation', () => {
  it('requires a good password from a new person, and a name unless the invitation contains one', async () => {
    const { token } = await users.invited('nameless@example.com')
    expect((await users.accept({ token, password })).error().details[0]?.path).toBe('/name')
    expect((await users.accept({ token, name: 'Nadia' })).error().details[0]?.path).toBe('/password')
    expect((await users.accept({ token, name: 'Nadia', password: 'elevenchars' })).status).toBe(422)
    const named = await users.invited('named@example.com', 'viewer', { name: 'Nadia' })
    expect((await users.accept({ token: named.token, password })).data(Session).user.name).toBe('Nadia')
  })

  it('requires the existing password of a person with a login, and leaves the login unchanged', async () => {
    const eve = await settings.owner('elsewhere')
    const { token, id } = await users.invited(eve.email)
    expect(id).toBe(eve.userId)
    const wrong = await users.accept({ token, name: 'Mine Now', password: 'wrong horse battery' })
    expect(wrong.error().code).toBe('invalid_credentials')
    expect(await statusOf(id)).toBe('invited')
    const session = (await users.accept({ token, name: 'Other Name', password })).data(Session)
    expect(session.user).toMatchObject({ id: eve.userId, name: 'Owner of elsewhere' })
    expect(session.workspaces.map(({ slug }) => slug).sort()).toEqual(['acme', 'elsewhere'])
    expect((await settings.login(eve.email, password)).status).toBe(201)
  })

  it('throttles an address that tries many tokens', async () => {
    const address = '198.51.100.77'
    for (let attempt = 0; attempt < 51; attempt++) {
      expect((await users.accept({ token: `ops_inv_guess${attempt}` }, address)).status).toBe(401)
    }
    expect((await users.accept({ token: 'ops_inv_guess' }, address)).error().code).toBe('rate_limited')
    const { token } = await users.invited('unhindered@example.com')
    expect((await users.accept({ token, ...someone }, '198.51.100.78')).status).toBe(201)
  })
})

describe('a person in several workspaces', () => {
  it('has one login, even when all workspaces invite concurrently', async () => {
    const owners = await Promise.all(['one', 'two', 'three'].map((slug) => settings.owner(slug)))
    const tokens = await Promise.all(
      owners.map(async (owner) => {
        const client = await settings.as(owner.session, { workspace: owner.slug })
        return createUserClient(settings, owner, client).invited('shared@example.com')
      }),
    )
    expect(new Set(tokens.map(({ id }) => id)).size).toBe(1)
    for (const { token } of tokens) expect((await users.accept({ token, ...someone })).status).toBe(201)
    const { workspaces } = (await settings.login('shared@example.com', password)).data(Session)
    expect(workspaces).toHaveLength(3)
  })

  it('can be invited before bootstrap makes them an owner', async () => {
    const { id } = await users.invited('early@example.com')
    const naming = { workspaceName: 'Early', workspaceSlug: 'early', userName: 'Early Bird' }
    const made = await settings.internal.post('/internal/bootstrap', {
      ...{ ...naming, email: 'early@example.com', password, existingLogin: 'keep' },
    })
    expect(made.text).toContain(id)
    expect((await settings.login('early@example.com', password)).data(Session).user.name).toBe('Early Bird')
  })
})
