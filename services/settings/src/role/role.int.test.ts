import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { builtInRoles, KnownMembers, Role, TokenCreated, VerifiedToken } from '@opsplane/contracts'
import { type ApiClient, type EventRecorder, recordEvents, waitFor } from '@opsplane/testing'
import { createUserClient } from '../membership/users.fixture.js'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'
import { maxCustomRoles } from './roles.js'

const inAcme = { workspace: 'acme' }

let settings: Settings
let recorder: EventRecorder
let ada: Owner
let api: ApiClient
let users: ReturnType<typeof createUserClient>

beforeAll(async () => {
  settings = await startSettings()
  recorder = await recordEvents(settings.service.natsPrefix)
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, inAcme)
  users = createUserClient(settings, ada, api)
})
afterAll(async () => {
  await recorder?.stop()
  await settings?.stop()
})

const create = (name: string, permissions: string[], client = api) =>
  client.post('/settings/roles', { name, permissions })
const patch = (name: string, body: object, headers = {}) =>
  api.patch(`/settings/roles/${name}`, body, headers)
const allowed = async (token: string) =>
  (await settings.verify(token, inAcme)).data(VerifiedToken).principal.permissions

describe('a custom role', () => {
  it('is known to services like the built-in roles, but only in its own workspace', async () => {
    await create('knowable', ['itsm:read'])
    const known = async (workspaceId: string) =>
      (
        await settings.internal.post('/internal/members', {
          ...{ workspaceId, userIds: [], roles: ['viewer', 'knowable', 'ghosts', 'toString'] },
        })
      ).data(KnownMembers).roles
    expect(await known(ada.workspaceId)).toEqual(['viewer', 'knowable'])
    expect(await known('ws_other')).toEqual(['viewer'])
  })

  it('can be created, assigned, changed and deleted, and always determines the permissions of its users', async () => {
    const created = (
      await create('releaser', ['webhooks:read', 'itsm:read', 'tokens:manage', 'itsm:read'])
    ).data(Role)
    expect(created).toMatchObject({
      ...{ name: 'releaser', description: '', builtIn: false, members: 0, version: 1 },
      permissions: ['tokens:manage', 'itsm:read', 'webhooks:read'],
    })
    const grace = await users.joined('grace@example.com', 'releaser')
    const wanted = { name: 'CI', scopes: ['itsm:read', 'webhooks:read'] }
    const key = (await grace.api.post('/auth/tokens', wanted)).data(TokenCreated).token ?? ''
    expect(await allowed(grace.session)).toEqual(created.permissions)
    expect(await allowed(key)).toEqual(['itsm:read', 'webhooks:read'])

    const narrowed = await patch('releaser', {
      permissions: ['itsm:read', 'secrets:read'],
      description: 'Less.',
    })
    expect(narrowed.data(Role)).toMatchObject({ members: 1, version: 2, description: 'Less.' })
    expect(await allowed(grace.session)).toEqual(['secrets:read', 'itsm:read'])
    expect(await allowed(key)).toEqual(['itsm:read'])

    const inUse = (await api.send('DELETE', '/settings/roles/releaser')).error()
    expect(inUse).toMatchObject({
      code: 'conflict',
      details: [{ code: 'role_in_use', params: { members: 1 } }],
    })
    await users.patch(grace.userId, { role: 'viewer' })
    expect((await api.send('DELETE', '/settings/roles/releaser')).status).toBe(204)
    expect((await api.get('/settings/roles/releaser')).error().code).toBe('not_found')
    expect((await users.patch(grace.userId, { role: 'releaser' })).error().details[0]?.code).toBe(
      'unknown_role',
    )

    const events = await waitFor(() => {
      const mine = recorder.published.filter(({ event }) => event.resource.id === created.id)
      return mine.length >= 3 && mine.map(({ event }) => event)
    })
    expect(events.map(({ type }) => type)).toEqual(['role.created', 'role.updated', 'role.deleted'])
    expect(events[1]?.data.changes.sort()).toEqual(['description', 'permissions'])
    expect((await create('releaser', [])).data(Role).version).toBe(1)
  })

  it('requires a valid name that is neither taken nor built in', async () => {
    await create('taken', [])
    const twice = await Promise.all([create('raced', []), create('raced', [])])
    expect(twice.map(({ status }) => status).sort()).toEqual([201, 409])
    expect((await create('taken', [])).error().code).toBe('conflict')
    expect((await create('owner', [])).error().details[0]?.code).toBe('built_in_role')
    for (const name of ['Upper', '-x', 'x-', '1st', 'a b', ''])
      expect((await create(name, [])).status).toBe(422)
    expect((await create('odd', ['everything'])).status).toBe(422)
    expect((await create('constructor', ['itsm:read'])).data(Role).permissions).toEqual(['itsm:read'])
    const joined = await users.joined('constructed@example.com', 'constructor')
    expect(await allowed(joined.session)).toEqual(['itsm:read'])
  })

  it('is checked against If-Match', async () => {
    await create('versioned', [])
    expect((await patch('versioned', { description: 'a' }, { 'if-match': '"2"' })).error().code).toBe(
      'precondition_failed',
    )
    expect((await patch('versioned', { description: 'a' }, { 'if-match': '"1"' })).data(Role).version).toBe(2)
  })

  it('cannot be deleted while it is concurrently assigned to a user', async () => {
    for (let round = 0; round < 5; round++) {
      const name = `fleeting-${round}`
      await create(name, ['itsm:read'])
      const [deleted, invited] = await Promise.all([
        api.send('DELETE', `/settings/roles/${name}`),
        users.invite(`fleeting${round}@example.com`, name),
      ])
      expect([deleted.status, invited.status]).toEqual(deleted.status === 204 ? [204, 422] : [409, 201])
    }
  })
})

describe('a built-in role', () => {
  it.each(Object.keys(builtInRoles))('%s can be read and never changed', async (name) => {
    const shown = (await api.get(`/settings/roles/${name}`)).data(Role)
    expect(shown).toMatchObject({ name, builtIn: true, id: null, version: null })
    expect(shown.permissions).toEqual(builtInRoles[name]?.permissions)
    for (const reply of [
      await patch(name, { permissions: [] }),
      await api.send('DELETE', `/settings/roles/${name}`),
    ]) {
      expect(reply.error().details[0]?.code).toBe('built_in_role')
    }
  })

  it('admin lacks only the permission owners:manage', () => {
    const missing = builtInRoles.owner?.permissions.filter(
      (held) => !builtInRoles.admin?.permissions.includes(held),
    )
    expect(missing).toEqual(['owners:manage'])
  })
})

describe('the list of roles', () => {
  it('contains the built-in roles first, then up to a hundred custom roles, page by page', async () => {
    const eve = await settings.owner('evil')
    const client = await settings.as(eve.session, { workspace: 'evil' })
    for (let number = maxCustomRoles; number > 0; number--) {
      expect((await create(`role-${String(number).padStart(3, '0')}`, [], client)).status).toBe(201)
    }
    expect((await create('one-more', [], client)).error().code).toBe('conflict')
    const names: string[] = []
    for (let after = ''; ; ) {
      const page = (await client.get(`/settings/roles?limit=40${after}`)).page(Role)
      names.push(...page.items.map(({ name }) => name))
      if (page.pagination.nextCursor === null) break
      after = `&after=${page.pagination.nextCursor}`
    }
    expect(names).toHaveLength(maxCustomRoles + 5)
    expect(names.slice(0, 6)).toEqual(['owner', 'admin', 'developer', 'agent', 'viewer', 'role-001'])
    expect(names.slice(5)).toEqual(names.slice(5).toSorted())
    const foreign = (await client.get('/settings/roles?limit=1')).page(Role).pagination.nextCursor
    expect((await api.get(`/settings/roles?limit=1&after=${foreign}`)).error().code).toBe('invalid_cursor')
  })
})
