import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { permissions, TokenCreated, User } from '@opsplane/contracts'
import type { ApiClient } from '@opsplane/testing'
import { type Owner, password, type Settings, startSettings } from '../settings.fixture.js'
import { createUserClient, type JoinedUser } from './users.fixture.js'

const inAcme = { workspace: 'acme' }

let settings: Settings
let ada: Owner
let api: ApiClient
let users: ReturnType<typeof createUserClient>
let admin: JoinedUser

beforeAll(async () => {
  settings = await startSettings()
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, inAcme)
  users = createUserClient(settings, ada, api)
  admin = await users.joined('admin@example.com', 'admin')
})
afterAll(() => settings?.stop())

const detailOf = (reply: Awaited<ReturnType<typeof users.patch>>) => reply.error().details[0]?.code
const activeOwners = async (client: ApiClient) =>
  (await client.get('/settings/users?role=owner&status=active')).page(User).items

describe('the last active owner', () => {
  it('cannot be demoted, suspended or removed', async () => {
    for (const reply of [
      await users.patch(ada.userId, { role: 'admin' }),
      await users.patch(ada.userId, { status: 'suspended' }),
      await users.remove(ada.userId),
    ]) {
      expect(reply.error().code).toBe('conflict')
      expect(detailOf(reply)).toBe('last_owner')
    }
    const second = await users.joined('second@example.com', 'owner')
    expect((await users.remove(second.userId)).status).toBe(200)
  })

  it('remains, even under concurrent demotions, suspensions and removals of owners', async () => {
    for (let round = 0; round < 4; round++) {
      const grace = await settings.owner(`grace${round}`)
      const client = await settings.as(grace.session, { workspace: grace.slug })
      const there = createUserClient(settings, grace, client)
      const other = await there.joined(`other${round}@example.com`, 'owner')
      const ids = [grace.userId, other.userId]
      const replies = await Promise.all(
        Array.from({ length: 20 }, (_, index) => {
          const id = ids[index % 2] ?? ''
          if (index % 3 === 0) return there.remove(id)
          return there.patch(id, index % 3 === 1 ? { role: 'viewer' } : { status: 'suspended' })
        }),
      )
      expect(replies.some((reply) => reply.status === 409 && detailOf(reply) === 'last_owner')).toBe(true)
      expect(replies.filter(({ status }) => status >= 500)).toEqual([])
      expect(await activeOwners(client)).toHaveLength(1)
    }
  })
})

describe('privileges cannot be escalated', () => {
  it('an admin cannot create, change or remove an owner', async () => {
    const victim = await users.joined('victim@example.com', 'owner')
    for (const reply of [
      await admin.api.post('/settings/users/invite', { email: 'mine@example.com', role: 'owner' }),
      await users.patch(admin.userId, { role: 'owner' }, admin.api),
      await users.patch(victim.userId, { role: 'viewer' }, admin.api),
      await users.patch(victim.userId, { status: 'suspended' }, admin.api),
      await users.remove(victim.userId, admin.api),
    ]) {
      expect(reply.error().code).toBe('forbidden')
      expect(reply.error().details[0]?.params).toEqual({ missing: ['owners:manage'] })
    }
    expect((await users.patch(admin.userId, { role: 'admin' }, admin.api)).status).toBe(200)
  })

  it('an admin cannot replace the invitation of a future owner', async () => {
    const { token } = await users.invited('coming@example.com', 'owner')
    const reply = await admin.api.post('/settings/users/invite', {
      ...{ email: 'coming@example.com', role: 'viewer' },
    })
    expect(reply.error().code).toBe('forbidden')
    expect((await users.accept({ token, name: 'Coming', password })).status).toBe(201)
  })

  it('an API key of an owner can assign only what its own scopes allow', async () => {
    const wanted = { name: 'HR', scopes: ['users:read', 'users:write'] }
    const { token } = (await api.post('/auth/tokens', wanted)).data(TokenCreated)
    const key = await settings.as(token ?? '', inAcme)
    const invited = await key.post('/settings/users/invite', { email: 'via-key@example.com', role: 'viewer' })
    expect(detailOf(invited)).toBe('permission_not_held')
    expect((await users.patch(admin.userId, { status: 'suspended' }, key)).error().code).toBe('forbidden')
  })

  it('custom roles cannot be created, widened, assigned or removed without the permissions they contain', async () => {
    await api.post('/settings/roles', {
      name: 'hr',
      permissions: ['users:read', 'users:write', 'roles:write'],
    })
    await api.post('/settings/roles', { name: 'vault', permissions: ['secrets:read'] })
    const hr = await users.joined('hr@example.com', 'hr')
    const keeper = await users.joined('keeper@example.com', 'vault')
    for (const reply of [
      await hr.api.post('/settings/roles', { name: 'mine', permissions: ['secrets:read'] }),
      await hr.api.patch('/settings/roles/hr', { permissions: ['users:read', 'owners:manage'] }),
      await hr.api.patch('/settings/roles/vault', { permissions: [] }),
      await hr.api.send('DELETE', '/settings/roles/vault'),
      await hr.api.post('/settings/users/invite', { email: 'spy@example.com', role: 'vault' }),
      await users.patch(hr.userId, { role: 'vault' }, hr.api),
      await users.patch(keeper.userId, { role: 'hr' }, hr.api),
      await users.remove(keeper.userId, hr.api),
    ]) {
      expect(reply.error().code).toBe('forbidden')
      expect(detailOf(reply)).toBe('permission_not_held')
    }
    expect(
      (await hr.api.post('/settings/users/invite', { email: 'ok@example.com', role: 'hr' })).status,
    ).toBe(201)
  })

  it.each(['developer', 'agent', 'viewer'])('a %s cannot change users or roles', async (role) => {
    const { api: own, userId } = await users.joined(`${role}@example.com`, role)
    expect((await own.get('/settings/users')).status).toBe(200)
    for (const reply of [
      await own.post('/settings/users/invite', { email: 'x@example.com', role }),
      await users.patch(userId, { role }, own),
      await users.remove(userId, own),
      await own.post('/settings/roles', { name: 'x', permissions: [] }),
      await own.patch('/settings/roles/hr', { permissions: [] }),
      await own.send('DELETE', '/settings/roles/hr'),
    ]) {
      expect(reply.error().code).toBe('insufficient_scope')
    }
  })
})

describe('a key limited to some environments', () => {
  const all = ['users:read', 'users:write', 'roles:read', 'roles:write']
  async function keyFor(environments: string[]): Promise<ApiClient> {
    const made = await api.post('/auth/tokens', { name: 'Key', scopes: [...permissions], environments })
    return settings.as(made.data(TokenCreated).token ?? '', { ...inAcme, environment: 'staging' })
  }

  it('cannot invite or change users, roles or the workspace, which belong to all environments', async () => {
    const { userId } = await users.joined('everywhere@example.com', 'viewer')
    expect((await api.post('/settings/roles', { name: 'narrow', permissions: all })).status).toBe(201)
    const narrow = await keyFor(['staging'])
    for (const reply of [
      await narrow.post('/settings/users/invite', { email: 'door@example.com', role: 'viewer' }),
      await users.patch(userId, { role: 'admin' }, narrow),
      await users.patch(userId, { status: 'suspended' }, narrow),
      await users.remove(userId, narrow),
      await narrow.post('/settings/roles', { name: 'other', permissions: [] }),
      await narrow.patch('/settings/roles/narrow', { permissions: [] }),
      await narrow.send('DELETE', '/settings/roles/narrow'),
      await narrow.patch('/workspaces/acme', { name: 'Mine' }),
    ]) {
      expect(reply.error().code).toBe('forbidden')
      expect(detailOf(reply)).toBe('environment_not_held')
    }
    expect((await narrow.get('/settings/users')).status).toBe(200)
  })

  it('can change users and roles when it includes every environment', async () => {
    const wide = await keyFor(['staging', 'production', 'development'])
    expect(
      (await wide.post('/settings/users/invite', { email: 'w@example.com', role: 'viewer' })).status,
    ).toBe(201)
    expect((await wide.post('/settings/roles', { name: 'wide', permissions: [] })).status).toBe(201)
  })
})

describe('the list of users', () => {
  it('can be filtered by status, role, and the beginning of name or e-mail', async () => {
    await users.invite('per_cent@example.com', 'viewer', { name: '100% Percent' })
    const emails = async (query: string) =>
      (await api.get(`/settings/users?${query}`)).page(User).items.map(({ email }) => email)
    expect(await emails('q=PER_')).toEqual(['per_cent@example.com'])
    expect(await emails('q=100%25 perC')).toEqual(['per_cent@example.com'])
    for (const absent of ['q=%25', 'q=_', 'q=cent', 'q=per%25']) expect(await emails(absent)).toEqual([])
    await users.invite('zhanna@example.com', 'viewer', { name: 'ЖАННА Ё' })
    for (const begun of ['жан', 'Жанна ё'])
      expect(await emails(`q=${encodeURIComponent(begun)}`)).toEqual(['zhanna@example.com'])
    expect(await emails('status=active&role=admin')).toEqual(['admin@example.com'])
    const first = (await api.get('/settings/users?limit=2')).page(User)
    const next = (await api.get(`/settings/users?limit=2&after=${first.pagination.nextCursor}`)).page(User)
    expect(new Set([...first.items, ...next.items].map(({ id }) => id)).size).toBe(4)
    expect((await api.get('/settings/users?status=gone')).status).toBe(422)
  })

  it('checks each change against If-Match', async () => {
    const { userId } = await users.joined('versioned@example.com')
    const path = `/settings/users/${userId}`
    const stale = await api.patch(path, { role: 'viewer' }, { 'if-match': '"1"' })
    expect(stale.error().code).toBe('precondition_failed')
    expect((await api.patch(path, { role: 'viewer' }, { 'if-match': '"2"' })).data(User).version).toBe(3)
  })
})
