import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ResolvedSecrets, Rights, Secret, SecretDetail } from '@opsplane/contracts'
import type { ApiClient } from '@opsplane/testing'
import { createUserClient } from '../membership/users.fixture.js'
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

const store = (name: string, hosts?: unknown, value = 'the value') =>
  api.post('/secrets', { name, value, ...(hosts === undefined ? {} : { hosts }) })
const resolve = async (names: string[], host: string, userId = ada.userId, consumer = 'webhook/wh_1') => {
  const body = { workspaceId: ada.workspaceId, environment: 'production', names, host, userId, consumer }
  return (await settings.internal.post('/internal/secrets/resolve', body)).data(ResolvedSecrets)
}

describe('a secret', () => {
  it.each([
    [['']],
    [['*.com']],
    [['a.*.com']],
    [['api*.example.com']],
    [['*.*.example.com']],
    [['https://api.example.com']],
    [['api.example.com:443']],
    [['127.1']],
  ])('is rejected with the hosts %j', async (hosts) => {
    expect((await store('nowhere', hosts)).error()).toMatchObject({
      code: 'validation_failed',
      details: expect.arrayContaining([expect.objectContaining({ path: expect.stringMatching(/^\/hosts/) })]),
    })
  })

  it.each([
    [['api.example.com'], 'api.example.com', true],
    [['API.Example.com'], 'api.example.com', true],
    [['api.example.com'], 'example.com', false],
    [['api.example.com'], 'xapi.example.com', false],
    [['api.example.com'], 'api.example.com.evil.net', false],
    [['*.example.com'], 'api.example.com', true],
    [['*.example.com'], 'example.com', false],
    [['*.example.com'], 'a.b.example.com', false],
    [['*.example.com'], 'evilexample.com', false],
    [['127.0.0.1'], '127.0.0.1', true],
    [['[::1]', 'other.example.com'], '[::1]', true],
    [['*'], 'anything.example.net', true],
    [undefined, 'api.example.com', false],
    [[], 'api.example.com', false],
  ])('for the hosts %j is sent to %s: %s', async (hosts, host, allowed) => {
    await store('somewhere', hosts)
    const expected = allowed
      ? { values: { somewhere: 'the value' }, refused: {} }
      : { values: {}, refused: { somewhere: 'host_not_allowed' } }
    expect(await resolve(['somewhere', 'missing'], host)).toEqual(expected)
    await api.send('DELETE', '/secrets/somewhere')
  })

  it('can change its hosts only together with its value', async () => {
    await store('moved', ['old.example.com'])
    const put = (body: object) => api.send('PUT', '/secrets/moved', { body })
    expect((await put({ hosts: ['evil.example.com'] })).status).toBe(422)
    expect((await put({ value: 'second' })).data(Secret).hosts).toEqual(['old.example.com'])
    const moved = await put({ value: 'third', hosts: ['new.example.com'] })
    expect(moved.data(Secret).hosts).toEqual(['new.example.com'])
    expect((await resolve(['moved'], 'old.example.com')).refused).toEqual({ moved: 'host_not_allowed' })
  })

  it('is resolved only for users who may currently use secrets', async () => {
    await store('used', ['a.example.com'])
    const users = createUserClient(settings, ada, api)
    const joined = await users.joined('dev@example.com', 'developer')
    expect((await resolve(['used'], 'a.example.com', joined.userId)).values).toEqual({ used: 'the value' })
    await users.patch(joined.userId, { role: 'viewer' })
    const refusal = { values: {}, refused: { used: 'permission_missing' } }
    expect(await resolve(['used'], 'a.example.com', joined.userId)).toEqual(refusal)
    expect(await resolve(['used'], 'a.example.com', 'usr_nobody')).toEqual(refusal)
  })

  it('lists its uses with consumer, user and host, latest first', async () => {
    await store('traced', ['*'])
    await resolve(['traced'], 'a.example.com')
    settings.clock.advance(1_000)
    await resolve(['traced'], 'b.example.com', ada.userId, 'connector/cn_1')
    await resolve(['traced'], 'c.example.com', 'usr_nobody')
    const { uses } = (await api.get('/secrets/traced')).data(SecretDetail)
    const by = { userId: ada.userId, service: 'dispatcher', useCount: 1 }
    expect(uses).toMatchObject([
      { ...by, consumer: 'connector/cn_1', host: 'b.example.com' },
      { ...by, consumer: 'webhook/wh_1', host: 'a.example.com' },
    ])
  })

  it('is refused when the values together exceed the size of one request', async () => {
    await store('large_a', ['*'], 'a'.repeat(40_000))
    await store('large_b', ['*'], 'b'.repeat(40_000))
    const { values, refused } = await resolve(['large_a', 'large_b'], 'a.example.com')
    expect(Object.keys(values)).toHaveLength(1)
    expect(Object.values(refused)).toEqual(['too_large'])
  })
})

it('permissions of users are those of their current roles', async () => {
  const body = { workspaceId: ada.workspaceId, userIds: [ada.userId, 'usr_nobody'] }
  const { permissions, roles } = (await settings.internal.post('/internal/rights', body)).data(Rights)
  expect(Object.keys(permissions)).toEqual([ada.userId])
  expect(roles).toEqual({ [ada.userId]: 'owner' })
  expect(permissions[ada.userId]).toContain('secrets:use')
  expect((await api.post('/internal/rights', body)).error().code).toBe('forbidden')
})
