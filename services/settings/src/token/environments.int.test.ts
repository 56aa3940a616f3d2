import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type Environment, Token, TokenCreated } from '@opsplane/contracts'
import type { ApiClient } from '@opsplane/testing'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'

let settings: Settings
let ada: Owner
let api: ApiClient
beforeAll(async () => {
  settings = await startSettings()
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, { workspace: 'acme' })
})
afterAll(() => settings?.stop())

const create = async (name: string, environments?: Environment[]) => {
  const scopes = ['tokens:manage', 'itsm:read']
  return (await api.post('/auth/tokens', { name, scopes, environments })).data(TokenCreated)
}

it('a key limited to some environments can neither see, rotate nor revoke keys of others', async () => {
  const production = await create('production', ['production'])
  const both = await create('both', ['production', 'staging'])
  const every = await create('every')
  const sibling = await create('sibling', ['staging'])
  const own = await create('own', ['staging'])
  const place = { workspace: 'acme', environment: 'staging' }
  const staging = await settings.as(String(own.token), place)
  const names = (await staging.get('/auth/tokens')).page(Token).items.map(({ name }) => name)
  expect(names.sort()).toEqual(['own', 'sibling'])
  for (const { id } of [production, both, every]) {
    expect((await staging.send('DELETE', `/auth/tokens/${id}`)).error().code).toBe('not_found')
    expect((await staging.post('/auth/tokens/rotate', { id })).error().code).toBe('not_found')
  }
  expect((await staging.send('DELETE', `/auth/tokens/${sibling.id}`)).data(Token).status).toBe('revoked')
  const all = (await api.get('/auth/tokens')).page(Token).items
  expect(all.filter(({ status }) => status === 'active')).toHaveLength(4)
})

it('pages are filled with visible keys', async () => {
  for (let n = 0; n < 3; n++) {
    await create(`hidden ${n}`, ['production'])
    await create(`seen ${n}`, ['development'])
  }
  const [first] = (await api.get('/auth/tokens')).page(Token).items
  const key = await create('development', ['development'])
  const client = await settings.as(String(key.token), { workspace: 'acme', environment: 'development' })
  const page = (await client.get('/auth/tokens?limit=2&sort=createdAt')).page(Token)
  expect(page.items.map(({ name }) => name)).toEqual(['seen 0', 'seen 1'])
  expect(page.pagination.hasMore).toBe(true)
  expect(first?.id).not.toBe(key.id)
})
