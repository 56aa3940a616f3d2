import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  type InternalParty,
  type Principal,
  Secret,
  SecretDetail,
  type SecretTarget,
  stepUpMs,
  TokenCreated,
  VerifiedToken,
} from '@opsplane/contracts'
import { createInternalIssuer, createSecretTargets, serviceClient } from '@opsplane/http'
import { type ApiClient, testKeys } from '@opsplane/testing'
import { type Owner, type Settings, startSettings } from '../settings.fixture.js'

let settings: Settings
let ada: Owner
let api: ApiClient
const opened: { close(): Promise<void> }[] = []
beforeAll(async () => {
  settings = await startSettings()
  ada = await settings.owner('acme')
  api = await settings.as(ada.session, { workspace: 'acme' })
})
afterAll(async () => {
  for (const client of opened) await client.close()
  await settings?.stop()
})

const issuerOf = (service: InternalParty) =>
  createInternalIssuer({ service, privateKey: testKeys(service).privateKey })
/** The request of the workflows service, with the caller's token or with a grant of such a principal. */
const targetsBy = async (
  token: string,
  environment: 'production' | 'staging' = 'production',
  more: Partial<Principal> = {},
) => {
  const issuer = issuerOf('workflows')
  const client = serviceClient({
    baseUrl: settings.service.url,
    audience: 'settings',
    issuer,
    timeoutMs: 10_000,
  })
  opened.push(client)
  const { principal } = (await settings.verify(token, { workspace: 'acme' })).data(VerifiedToken)
  const clientToken = await issuerOf('gateway').clientToken('workflows', { ...principal, ...more })
  const meta = { clientToken, tenant: { workspaceId: ada.workspaceId, environment } }
  const secretTargets = createSecretTargets(client)
  return {
    check: async (...targets: SecretTarget[]) =>
      (await secretTargets.check(meta, targets)).map(({ target, code }) => [target.name, code]),
    admit: (...targets: SecretTarget[]) => secretTargets.admit(meta, targets),
  }
}
const keyWith = async (scopes: string[], more = {}) =>
  (await api.post('/auth/tokens', { name: scopes.join(' '), scopes, ...more })).data(TokenCreated).token ?? ''
const store = (name: string, hosts?: string[]) =>
  api.post('/secrets', { name, value: 'v', ...(hosts && { hosts }) })
const hostsOf = async (name: string) => (await api.get(`/secrets/${name}`)).data(SecretDetail).hosts

it('a secret can be stored without hosts, and then allows none', async () => {
  const stored = await store('plain')
  expect(stored.status).toBe(201)
  expect(stored.data(Secret).hosts).toEqual([])
})

describe('a definition', () => {
  it('adds its literal hosts once, on behalf of a caller with secrets:write', async () => {
    await store('added')
    const { check, admit } = await targetsBy(ada.session)
    const target = { name: 'added', hosts: ['api.example.com'] }
    expect(await check(target)).toEqual([])
    expect(await hostsOf('added')).toEqual([])
    await admit(target, { name: 'added', hosts: ['other.example.com'] })
    await admit(target)
    expect(await hostsOf('added')).toEqual(['api.example.com', 'other.example.com'])
    const events = await settings.service.sql`select actor, data from events
      where type = 'secret.hosts_added' and data->'after'->>'name' = 'added'`
    expect(events).toMatchObject([
      { actor: { id: ada.userId, type: 'user' }, data: { added: ['api.example.com', 'other.example.com'] } },
    ])
  })

  it('adds nothing with only secrets:use, and reports it', async () => {
    await store('used')
    const { check, admit } = await targetsBy(await keyWith(['secrets:use']))
    const target = { name: 'used', hosts: ['api.example.com'] }
    await admit(target)
    expect(await hostsOf('used')).toEqual([])
    expect(await check(target, { name: 'used', hosts: [] })).toEqual([['used', 'secret_host_not_allowed']])
  })

  it('adds nothing in a browser session that has not stepped up, nor with the carried rights of a session', async () => {
    await store('guarded', ['api.example.com'])
    const provedAt = settings.clock.now()
    const kept = { name: 'guarded', hosts: ['api.example.com'] }
    const fresh = await targetsBy(ada.session, 'production', { provedAt })
    await fresh.admit({ name: 'guarded', hosts: ['fresh.example.com'] })
    settings.clock.advance(stepUpMs)
    const refused = {
      step_up_required: await targetsBy(ada.session, 'production', { provedAt }),
      forbidden: await targetsBy(ada.session, 'production', { carriesSession: true }),
    }
    for (const [code, { admit }] of Object.entries(refused)) {
      await expect(admit({ name: 'guarded', hosts: ['evil.example.com'] })).rejects.toMatchObject({ code })
      await admit(kept)
    }
    const key = await targetsBy(await keyWith(['secrets:write']))
    await key.admit({ name: 'guarded', hosts: ['key.example.com'] })
    expect(await hostsOf('guarded')).toEqual(['api.example.com', 'fresh.example.com', 'key.example.com'])
  })

  it.each([['*'], ['*.example.com'], ['api.example.com:443'], ['{{ input.host }}'], ['API.example.com']])(
    'never adds the host %s',
    async (host) => {
      await store('wide')
      const { check, admit } = await targetsBy(ada.session)
      await admit({ name: 'wide', hosts: [host] })
      expect(await check({ name: 'wide', hosts: [host] })).toEqual([['wide', 'secret_host_not_allowed']])
      expect(await hostsOf('wide')).toEqual([])
      await api.send('DELETE', '/secrets/wide')
    },
  )

  it('adds nothing when the secret already allows one of the hosts', async () => {
    await store('partly', ['a.example.com'])
    const { check, admit } = await targetsBy(ada.session)
    for (const hosts of [['a.example.com', 'b.example.com'], ['*.example.com']]) {
      expect(await check({ name: 'partly', hosts })).toEqual([])
      await admit({ name: 'partly', hosts })
    }
    expect(await check({ name: 'partly', hosts: ['*'] })).toEqual([['partly', 'secret_host_not_allowed']])
    expect(await hostsOf('partly')).toEqual(['a.example.com'])
  })

  it('reports unknown secrets of its environment only to callers who may read or use secrets', async () => {
    await store('here')
    const [absent, here] = ['absent', 'here'].map((name) => ({ name, hosts: [] }))
    if (!absent || !here) throw new Error('two targets')
    expect(await (await targetsBy(ada.session)).check(absent, here)).toEqual([['absent', 'unknown_secret']])
    const there = await targetsBy(ada.session, 'staging')
    expect(await there.check(here)).toEqual([['here', 'unknown_secret']])
    const unknowing = await targetsBy(await keyWith(['workflows:write']))
    expect(await unknowing.check(absent)).toEqual([])
    const bound = await targetsBy(await keyWith(['secrets:use'], { environments: ['production'] }), 'staging')
    await expect(bound.check(here)).rejects.toMatchObject({ code: 'environment_forbidden' })
  })
})
