import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  IdentityProvider,
  ResolvedSecrets,
  Role,
  Secret,
  Token,
  TokenCreated,
  User,
} from '@opsplane/contracts'
import type { ApiClient } from '@opsplane/testing'
import { createUserClient } from './membership/users.fixture.js'
import { settings as definition } from './service.js'
import { type Owner, type Settings, startSettings } from './settings.fixture.js'

let settings: Settings
let ada: Owner
let eve: Owner
let adas: ApiClient
let eves: ApiClient
let key: TokenCreated
let provider: string

beforeAll(async () => {
  settings = await startSettings()
  ada = await settings.owner('acme')
  eve = await settings.owner('evil')
  adas = await settings.as(ada.session, { workspace: 'acme' })
  eves = await settings.as(eve.session, { workspace: 'evil' })
  key = (await adas.post('/auth/tokens', { name: 'CI', scopes: ['itsm:read'] })).data(TokenCreated)
  await adas.post('/secrets', { name: 'stripe', value: 'sk_live', hosts: ['*'] })
  await adas.post('/settings/roles', { name: 'releaser', permissions: ['itsm:read'] })
  provider = (
    await adas.post('/settings/identity-providers', {
      ...{ name: 'SSO', issuer: 'https://issuer.example', clientId: 'x', clientSecret: 'y' },
    })
  ).data(IdentityProvider).id
  const users = createUserClient(settings, ada, adas)
  await users.joined('grace@example.com', 'releaser')
  await users.invite('joan@example.com')
})
afterAll(() => settings?.stop())

const withoutRequestId = (text: string) => text.replace(/"requestId":"[^"]+"/, '')

describe('a user of another workspace', () => {
  const refused: [string, (reference: string) => string, object | undefined, () => string][] = [
    ['DELETE', (id) => `/auth/tokens/${id}`, undefined, () => key.id],
    ['GET', (name) => `/secrets/${name}`, undefined, () => 'stripe'],
    ['PUT', (name) => `/secrets/${name}`, { value: 'x' }, () => 'stripe'],
    ['DELETE', (name) => `/secrets/${name}`, undefined, () => 'stripe'],
    ['GET', (id) => `/settings/users/${id}`, undefined, () => ada.userId],
    ['GET', (id) => `/settings/identity-providers/${id}`, undefined, () => provider],
    ['PATCH', (id) => `/settings/identity-providers/${id}`, { enabled: false }, () => provider],
    ['DELETE', (id) => `/settings/identity-providers/${id}`, undefined, () => provider],
    ['PATCH', (id) => `/settings/users/${id}`, { role: 'viewer' }, () => ada.userId],
    ['DELETE', (id) => `/settings/users/${id}`, undefined, () => ada.userId],
    ['GET', (id) => `/settings/users/${id}/dependents`, undefined, () => ada.userId],
    ['GET', (name) => `/settings/roles/${name}`, undefined, () => 'releaser'],
    ['PATCH', (name) => `/settings/roles/${name}`, { permissions: [] }, () => 'releaser'],
    ['DELETE', (name) => `/settings/roles/${name}`, undefined, () => 'releaser'],
    ['PATCH', (slug) => `/workspaces/${slug}`, { name: 'x' }, () => 'acme'],
    ['GET', (slug) => `/workspaces/${slug}/stats`, undefined, () => 'acme'],
  ]
  it.each(refused)(
    'cannot detect by %s %p whether a resource exists',
    async (method, path, body, existing) => {
      const send = (reference: string) => eves.send(method, path(reference), body ? { body } : {})
      const [foreign, absent] = [await send(existing()), await send('01JZ8Q4D3N5W7X9Y2B4C6D8E0F')]
      expect(foreign.status).toBe(404)
      expect(withoutRequestId(foreign.text)).toBe(withoutRequestId(absent.text))
    },
  )

  it('cannot rotate a key by its id', async () => {
    expect((await eves.post('/auth/tokens/rotate', { id: key.id })).error().code).toBe('not_found')
    expect((await settings.verify(key.token ?? '', { workspace: 'acme' })).status).toBe(200)
  })

  it('sees only their own users and roles, and cannot assign a role of another workspace', async () => {
    const emails = (await eves.get('/settings/users')).page(User).items.map(({ email }) => email)
    expect(emails).toEqual([eve.email])
    expect((await eves.get('/settings/users?q=grace')).page(User).items).toEqual([])
    const roles = (await eves.get('/settings/roles')).page(Role).items
    expect(roles.map(({ name }) => name)).not.toContain('releaser')
    const invited = await eves.post('/settings/users/invite', { email: 'x@example.com', role: 'releaser' })
    expect(invited.error().details[0]?.code).toBe('unknown_role')
  })

  it('sees only their own keys and secrets, and cannot use a cursor of another list', async () => {
    expect((await eves.get('/auth/tokens')).page(Token).items).toEqual([])
    expect((await eves.get('/secrets')).page(Secret).items).toEqual([])
    await adas.post('/secrets', { name: 'twilio', value: 'x', hosts: ['*'] })
    const { pagination } = (await adas.get('/secrets?limit=1')).page(Secret)
    const reply = await eves.get(`/secrets?limit=1&after=${pagination.nextCursor}`)
    expect(reply.error().code).toBe('invalid_cursor')
  })

  it('may use the same secret name with another value', async () => {
    await eves.post('/secrets', { name: 'stripe', value: 'sk_evil', hosts: ['*'] })
    const resolve = async (workspaceId: string) => {
      const use = {
        host: 'a.example.com',
        userId: workspaceId === ada.workspaceId ? ada.userId : eve.userId,
        consumer: 'webhook/wh_1',
      }
      const body = { workspaceId, environment: 'production', names: ['stripe'], ...use }
      return (await settings.internal.post('/internal/secrets/resolve', body)).data(ResolvedSecrets).values
    }
    expect(await resolve(eve.workspaceId)).toEqual({ stripe: 'sk_evil' })
    expect(await resolve(ada.workspaceId)).toEqual({ stripe: 'sk_live' })
  })
})

describe('the read models', () => {
  const dump = async () => {
    const { sql } = settings.service
    return Promise.all(
      definition.tables.map((table) => sql`select to_jsonb(t) as row from ${sql(table)} t order by id`),
    )
  }

  it('are the same after a rebuild from the events', async () => {
    const before = await dump()
    expect(before.flat().length).toBeGreaterThan(12)
    await settings.service.rebuild()
    expect(await dump()).toEqual(before)
    expect((await settings.verify(key.token ?? '', { workspace: 'acme' })).status).toBe(200)
  })
})
