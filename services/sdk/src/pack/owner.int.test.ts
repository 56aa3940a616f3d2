import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { ArtifactDetail, newId, Pack } from '@opsplane/contracts'
import { type ApiClient, testPrincipal, waitFor } from '@opsplane/testing'
import { buildPack, type PacksFixture, startPacks } from '../fixture/packs-fixture.js'

let packs: PacksFixture
beforeAll(async () => {
  packs = await startPacks()
})
afterAll(() => packs?.stop())

const asking = { http: ['api.example.com'], secrets: ['api_key'], topics: ['greetings'] }
const install = async (api: ApiClient, body: object) =>
  (await api.post('/sdk/packs/install', body)).data(Pack)

describe('a pack', () => {
  it('is suspended once its owner lacks a required right, until a user with the rights installs it again', async () => {
    const principal = testPrincipal({ userId: newId('user') })
    const api = packs.service.as(principal)
    const body = { ...buildPack('1.0.0', { artifact: { permissions: asking } }), grant: asking }
    await install(api, body)
    await install(api, { ...buildPack('1.0.0'), ...renamed('harmless', 'greet-2') })
    packs.settings.rights.set(principal.userId, ['sdk:write', 'topics:write'])
    await packs.publish('user.role_changed', {
      workspaceId: principal.workspaceId ?? '',
      userId: principal.userId,
    })
    const suspended = await waitFor(async () => {
      const pack = (await api.get('/sdk/packs/greetings')).data(Pack)
      return pack.status === 'suspended' && pack
    })
    expect(suspended.suspendedFor).toEqual(['secrets:use'])
    expect((await api.get('/sdk/artifacts/greet')).data(ArtifactDetail).status).toBe('suspended')
    expect((await api.get('/sdk/packs/harmless')).data(Pack).status).toBe('active')
    const other = packs.service.as({ ...principal, userId: newId('user') })
    expect(await install(other, body)).toMatchObject({ status: 'active', suspendedFor: [] })
    expect((await api.get('/sdk/artifacts/greet')).data(ArtifactDetail).status).toBe('active')
  })

  it('can be taken over unchanged in one call, only by a user with the rights', async () => {
    const [owner, lacking, able] = [0, 1, 2].map(() => ({ ...testPrincipal(), userId: newId('user') }))
    if (!owner || !lacking || !able) throw new Error('three people are needed')
    const { workspaceId } = owner
    const api = packs.service.as(owner)
    const installed = await install(api, {
      ...buildPack('1.0.0', { artifact: { permissions: asking } }),
      grant: asking,
    })
    packs.settings.rights.set(owner.userId, [])
    await packs.publish('user.role_changed', { workspaceId: workspaceId ?? '', userId: owner.userId })
    const present = async () => (await api.get('/sdk/packs/greetings')).data(Pack)
    await waitFor(async () => (await present()).status === 'suspended')
    const call = (principal: typeof owner) =>
      packs.service.as({ ...principal, workspaceId }).post('/sdk/packs/greetings/take-over')
    const refused = await call({ ...lacking, permissions: ['sdk:write', 'topics:write'] })
    expect(refused.error()).toMatchObject({
      code: 'forbidden',
      details: [{ code: 'permission_not_held', params: { missing: ['secrets:use'] } }],
    })
    expect((await present()).status).toBe('suspended')
    expect((await call(able)).data(Pack)).toMatchObject({
      ...{ status: 'active', suspendedFor: [], ownerId: able.userId },
      ...{ packVersion: installed.packVersion, artifacts: installed.artifacts },
    })
    const artifact = (await api.get('/sdk/artifacts/greet')).data(ArtifactDetail)
    expect(artifact).toMatchObject({ status: 'active', ownerId: able.userId })
  })
})

describe('a pack with business rules', () => {
  const rule = { environment: 'production' as const, table: 'assets', role: 'agent' }
  const ruled = (slug: string, filter?: Record<string, string>) => {
    const events = ['record.updated']
    const artifact = { slug, kind: 'business_rule' as const, rule: { events, ...(filter && { filter }) } }
    const { manifest, files } = buildPack('1.0.0', { artifact })
    return { manifest: { ...manifest, name: slug }, files }
  }

  it('cannot be installed by a user from whom row rules hide its events, and is suspended when they start to', async () => {
    packs.settings.readRules = [rule]
    const principal = testPrincipal({ userId: newId('user') })
    const as = (role: string) => packs.service.as({ ...principal, role })
    const refused = await as('agent').post('/sdk/packs/install', ruled('watcher'))
    expect(refused.error()).toMatchObject({
      code: 'forbidden',
      details: [{ code: 'row_rule', params: { rules: [{ table: 'assets', role: 'agent' }] } }],
    })
    await install(as('agent'), ruled('orders', { 'data.tableSlug': 'orders' }))
    await install(as('developer'), ruled('watcher'))
    packs.settings.roles.set(principal.userId, 'agent')
    const workspaceId = principal.workspaceId ?? ''
    await packs.publish('user.role_changed', { workspaceId, userId: principal.userId })
    const read = async (name: string) => (await as('developer').get(`/sdk/packs/${name}`)).data(Pack)
    await waitFor(async () => (await read('watcher')).status === 'suspended')
    expect(await read('watcher')).toMatchObject({ suspendedFor: ['records:read'] })
    expect((await read('orders')).status).toBe('active')
  })
})

/** The pack with another name, so that both can be installed. */
const renamed = (name: string, slug: string) => {
  const { manifest } = buildPack('1.0.0', { artifact: { slug } })
  return { manifest: { ...manifest, name } }
}
