import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { App, type AppAccess, builtInRoles, type Permission, type Principal } from '@opsplane/contracts'
import type { AppsFixture } from './fixture/apps-fixture.js'
import { resetPlatform, startDeclared } from './fixture/declared-app.js'

/** Access to a single app: granted by `apps:use`, or by the access list of the app. */

let fixture: AppsFixture
let app: App
beforeAll(async () => {
  const started = await startDeclared()
  fixture = started
  app = started.app
})
afterAll(() => fixture?.stop())
beforeEach(() => {
  fixture.platform.rights.clear()
  fixture.platform.reach = null
  resetPlatform(fixture)
})

const declared: Permission[] = ['connectors:invoke', 'records:read', 'records:write', 'queries:run']
const ids = { agent: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0A', viewer: 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0B' }
const member = (role: string, more: Partial<Principal> = {}): Principal => {
  const userId = role === 'agent' ? ids.agent : ids.viewer
  const permissions = [...(builtInRoles[role]?.permissions ?? [])]
  return {
    ...fixture.principal,
    userId,
    actor: { id: userId, name: 'P', type: 'user' },
    role,
    permissions,
    ...more,
  }
}
const key = (role: string, permissions: Permission[]) =>
  member(role, { actor: { id: 'tok_1', name: 'Key', type: 'api_token' }, tokenId: 'tok_1', permissions })
const setAccess = async (access: AppAccess | null) =>
  (await fixture.api.patch(`/apps/${app.id}`, { access })).data(App)

const nothing = { roles: [], users: [] }
const who: Record<string, () => Principal> = {
  'an agent': () => member('agent'),
  'a viewer': () => member('viewer'),
  'a member of no permission': () => member('guests', { permissions: [] }),
  'a key with apps:use': () => key('agent', ['apps:use']),
  'a key without apps:use': () => key('agent', ['apps:read', 'records:read']),
}

describe('an app', () => {
  it.each<[string, AppAccess | null, string[]]>([
    ['open to apps:use', null, ['an agent', 'a key with apps:use']],
    ['open to no one', nothing, []],
    ['open to viewers', { ...nothing, roles: ['viewer'] }, ['a viewer']],
    ['open to agents', { ...nothing, roles: ['agent'] }, ['an agent', 'a key with apps:use']],
    ['open to one user', { ...nothing, users: [ids.agent] }, ['an agent', 'a key with apps:use']],
    [
      'open to a viewer by id and to agents',
      { roles: ['agent'], users: [ids.viewer] },
      ['an agent', 'a viewer', 'a member of no permission', 'a key with apps:use'],
    ],
  ])('%s is used, listed and read only by the users and keys with access', async (_, access, expected) => {
    expect((await setAccess(access)).access).toEqual(access)
    const used: string[] = []
    for (const [name, principal] of Object.entries(who)) {
      const running = fixture.person(app.slug, principal())
      const answers = [
        await running.definition(),
        await running.act({ source: 'assets', operation: 'create', values: {} }),
      ]
      const statuses = new Set(answers.map(({ status }) => status))
      expect(statuses.size).toBe(1)
      if (statuses.has(200)) used.push(name)
      else expect(statuses).toEqual(new Set([403]))
      // Users with `apps:read` who may not use the app do not find it in the list either.
      const reader = fixture.service.as({
        ...principal(),
        permissions: [...principal().permissions, 'apps:read'],
      })
      const listed = (await reader.get('/apps')).page(App).items.some(({ id }) => id === app.id)
      const reads = [
        ...['', '/pages', '/data-sources', '/deployments', '/deployments/1', '/embed-tokens'].map(
          (below) => `/apps/${app.id}${below}`,
        ),
      ]
      const found = await Promise.all(reads.map(async (path) => (await reader.get(path)).status))
      expect([name, listed, ...found]).toEqual([
        ...[name, statuses.has(200)],
        ...reads.map(() => (statuses.has(200) ? 200 : 404)),
      ])
    }
    expect(used).toEqual(expected)
  })

  it('is visible to app builders regardless of its access list', async () => {
    await setAccess(nothing)
    const builder = fixture.service.as(member('developer', { permissions: ['apps:read', 'apps:write'] }))
    expect((await builder.get(`/apps/${app.id}`)).status).toBe(200)
    expect((await fixture.person(app.slug).definition()).status).toBe(403)
  })

  it('rejects unknown roles and users in its access list', async () => {
    fixture.platform.rights.set('usr_gone', null)
    const access = { roles: ['viewer', 'ghosts'], users: [ids.agent, 'usr_gone'] }
    const details = [
      { path: '/access/users/1', code: 'unknown_user' },
      { path: '/access/roles/1', code: 'unknown_role' },
    ]
    const bodies = { patch: { access }, post: { slug: 'new', name: 'New', access } }
    expect((await fixture.api.patch(`/apps/${app.id}`, bodies.patch)).error().details).toMatchObject(details)
    expect((await fixture.api.post('/apps', bodies.post)).error().details).toMatchObject(details)
  })

  it.each<[string, AppAccess | null, AppAccess | null, boolean]>([
    ['from a role to everyone', { ...nothing, roles: ['agent'] }, null, true],
    ['from everyone to a role', null, { ...nothing, roles: ['viewer'] }, true],
    ['to one more user', { ...nothing, roles: ['agent'] }, { roles: ['agent'], users: [ids.viewer] }, true],
    ['to fewer', { roles: ['agent'], users: [ids.viewer] }, { ...nothing, users: [ids.viewer] }, false],
  ])(
    "requires the deployment's permissions from a user who widens access, not from one who narrows it: %s",
    async (_, before, access, widens) => {
      await setAccess(before)
      const patch = (permissions: Permission[]) =>
        fixture.service.as(member('developer', { permissions })).patch(`/apps/${app.id}`, { access })
      const refused = await patch(['apps:write', 'records:read'])
      expect(refused.status).toBe(widens ? 403 : 200)
      if (!widens) return
      const missing = ['apps:deploy', 'connectors:invoke', 'records:write', 'queries:run']
      expect(refused.error().details).toMatchObject([
        { path: '/access', code: 'permission_not_held', params: { missing } },
      ])
      fixture.platform.reach = ['staging']
      expect((await patch(['apps:write', 'apps:deploy', ...declared])).error().details).toMatchObject([
        { path: '/access', code: 'environment_not_held' },
      ])
      fixture.platform.reach = null
      expect((await patch(['apps:write', 'apps:deploy', ...declared])).status).toBe(200)
    },
  )
})
