import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { TokenCreated, WorkspaceAccess } from '@opsplane/contracts'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'

let settings: Settings
let ada: Owner
beforeAll(async () => {
  settings = await startSettings({ LIMITS: JSON.stringify({ workspaces: 3 }) })
  ada = await settings.owner('acme')
})
afterAll(() => settings?.stop())

it('creates a workspace that is its own tenant, with the caller as its owner', async () => {
  const api = await settings.as(ada.session)
  const reply = await api.post('/workspaces', { slug: 'labs', name: 'Acme Labs' })
  expect(reply.status).toBe(201)
  const created = reply.data(WorkspaceAccess)
  expect(created).toMatchObject({ slug: 'labs', name: 'Acme Labs', role: 'owner', version: 1 })
  const slugs = (await api.get('/workspaces')).page(WorkspaceAccess).items.map(({ slug }) => slug)
  expect(slugs).toEqual(['labs', 'acme'])
  const inside = await settings.as(ada.session, { workspace: 'labs' })
  expect((await inside.get('/workspaces/me')).data(WorkspaceAccess)).toEqual(created)
  expect((await inside.patch('/workspaces/labs', { name: 'Labs' })).status).toBe(200)
  const events = await settings.service
    .sql`select type, actor->>'id' as actor from events where workspace_id = ${created.id} order by position`
  expect(events.slice(0, 2).map(({ type, actor }) => [type, actor])).toEqual([
    ['workspace.created', ada.userId],
    ['user.activated', ada.userId],
  ])
})

it('refuses a slug that is taken or reserved', async () => {
  const api = await settings.as(ada.session)
  expect((await api.post('/workspaces', { slug: 'acme' })).error()).toMatchObject({
    ...{ status: 409, code: 'conflict', details: [{ in: 'body', path: '/slug', code: 'slug_taken' }] },
  })
  expect((await api.post('/workspaces', { slug: 'me' })).error().details).toMatchObject([
    { path: '/slug', message: 'must not be me' },
  ])
})

it('creates one workspace for concurrent requests, and replays the result of an Idempotency-Key', async () => {
  const grace = await settings.owner('grace')
  const api = await settings.as(grace.session)
  const replies = await Promise.all(
    Array.from({ length: 5 }, () => api.post('/workspaces', { slug: 'race' })),
  )
  expect(replies.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
  const key = { 'Idempotency-Key': 'once' }
  const first = (await api.post('/workspaces', { slug: 'once' }, key)).data(WorkspaceAccess)
  expect((await api.post('/workspaces', { slug: 'once' }, key)).data(WorkspaceAccess)).toEqual(first)
  expect(first.name).toBe('once')
})

it('limits the number of workspaces that one person owns', async () => {
  const eve = await settings.owner('eve')
  const api = await settings.as(eve.session)
  for (const slug of ['eve-2', 'eve-3']) expect((await api.post('/workspaces', { slug })).status).toBe(201)
  expect((await api.post('/workspaces', { slug: 'eve-4' })).error().code).toBe('quota_exceeded')
})

it('requires workspace:write in every environment from an API key', async () => {
  const owner = await settings.owner('keys')
  const session = await settings.as(owner.session, { workspace: 'keys' })
  const create = async (slug: string, grant: object) => {
    const made = (await session.post('/auth/tokens', { name: slug, ...grant })).data(TokenCreated)
    return (await settings.as(made.token ?? '')).post('/workspaces', { slug })
  }
  const scopes = ['workspace:write']
  expect((await create('none', { scopes: ['itsm:read'] })).error().code).toBe('insufficient_scope')
  const narrow = { scopes, environments: ['production'] }
  expect((await create('narrow', narrow)).error().code).toBe('insufficient_scope')
  expect((await create('whole', { scopes })).status).toBe(201)
})
