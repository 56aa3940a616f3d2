import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import { type App, Deployment, EmbedToken, type Permission, type Principal } from '@opsplane/contracts'
import { waitFor, waitUntilSettled } from '@opsplane/testing'
import type { AppsFixture } from './fixture/apps-fixture.js'
import { resetPlatform, startDeclared } from './fixture/declared-app.js'

/** Deployments and embed tokens carry the rights of the people who created them, while those people have the rights. */

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
  resetPlatform(fixture)
})

const declared: Permission[] = ['connectors:invoke', 'records:read', 'records:write', 'queries:run']
const building: Permission[] = ['apps:read', 'apps:deploy', 'apps:use']
let people = 0
const person = (permissions: Permission[], more: Partial<Principal> = {}): Principal => {
  const userId = `usr_01JZ8Q4D3N5W7X9Y2B4C6D80${String(++people).padStart(2, '0')}`
  return {
    ...fixture.principal,
    userId,
    actor: { id: userId, name: 'P', type: 'user' },
    permissions,
    ...more,
  }
}
const live = async () => {
  const listed = (await fixture.api.get(`/apps/${app.id}/deployments`)).page(Deployment).items
  const found = listed.find((each) => each.live)
  if (!found) throw new Error('nothing is live')
  return found
}
const deployAs = async (who: Principal) =>
  (await fixture.service.as(who).post(`/apps/${app.id}/deploy`, { embeddable: true })).data(Deployment)
const list = { requests: [{ key: 'it', source: 'assets' }] }
const data = (who: Principal) => fixture.service.as(who).post(`/origin/apps/acme/${app.slug}/-/data`, list)
const act = (who: Principal) => fixture.person(app.slug, who).act({ source: 'assets', operation: 'create' })

describe('a deployment whose giver loses a right', () => {
  const giver = () => person([...building, ...declared])

  it.each<[string, Permission[] | null, string[]]>([
    ['a permission', [...building, 'records:read', 'queries:run', 'connectors:invoke'], ['records:write']],
    ['the membership', null, ['membership']],
  ])('is held until a user with the rights takes it over: %s', async (_, left, missing) => {
    const ada = giver()
    const { id, number, giverId } = await deployAs(ada)
    expect(giverId).toBe(ada.userId)
    fixture.platform.rights.set(ada.userId, left)
    await fixture.publish('user.role_changed', ada.userId)
    await waitFor(async () => (await live()).heldReason === 'owner_rights')
    expect(await live()).toMatchObject({ id, missing })

    const user = person(['apps:use'])
    const builder = person([...building])
    for (const [who, params] of [
      [user, undefined],
      [builder, { missing }],
    ] as const)
      for (const refused of [await data(who), await act(who)]) {
        expect(refused.status).toBe(403)
        expect(refused.error()).toMatchObject({ code: 'forbidden', details: [{ code: 'owner_rights' }] })
        expect(refused.error().details[0]?.params).toEqual(params)
      }
    expect((await fixture.person(app.slug, user).definition()).status).toBe(200)

    const takeOver = (who: Principal) => fixture.service.as(who).post(`/apps/${app.id}/take-over`)
    const refused = await takeOver(builder)
    expect(refused.status).toBe(403)
    expect(refused.error().details).toMatchObject([
      { code: 'permission_not_held', params: { missing: declared } },
    ])
    const before = fixture.platform.revoked.length
    const eve = giver()
    expect((await takeOver(eve)).data(Deployment)).toMatchObject({
      ...{ id, number, giverId: eve.userId, heldReason: null, missing: [], live: true },
      deployedBy: ada.userId,
    })
    expect(fixture.platform.revoked).toHaveLength(before + 1)
    expect((await data(user)).status).toBe(200)
    expect((await act(user)).status).toBe(200)
    const standing = fixture.platform.granted.findLastIndex(
      ({ expiresInSeconds }) => expiresInSeconds === null,
    )
    expect(fixture.platform.granted[standing]).toMatchObject({ run: id, permissions: declared })
    expect(fixture.platform.delegated.at(-1)).toMatchObject({ grant: `grant-${standing + 1}` })
  })

  it('is not held for a right it does not use, nor once another user has deployed', async () => {
    const ada = giver()
    const first = await deployAs(ada)
    fixture.platform.rights.set(ada.userId, [...building, ...declared.slice(1)])
    const eve = giver()
    const second = await deployAs(eve)
    fixture.platform.rights.set(eve.userId, declared)
    await fixture.publish('user.role_changed', ada.userId)
    await fixture.publish('user.role_changed', eve.userId)
    await waitUntilSettled(fixture.service)
    for (const { id } of [first, second])
      expect((await fixture.api.get(`/apps/${app.id}/deployments/${id}`)).data(Deployment)).toMatchObject({
        ...{ heldReason: null, missing: [] },
      })
  })

  it('that was created before deployments had grants uses the rights of each user until it is taken over', async () => {
    const { id } = await deployAs(giver())
    await fixture.service
      .sql`update deployments set state = (state::jsonb - 'grant' - 'giverId')::json where id = ${id}`
    const user = person(['apps:use', 'records:read'])
    expect((await data(user)).status).toBe(200)
    const own = fixture.platform.granted.at(-1)
    expect(own).toMatchObject({ expiresInSeconds: 60, permissions: declared })
    expect(fixture.platform.delegated.at(-1)).toMatchObject({
      grant: `grant-${fixture.platform.granted.length}`,
    })
    expect(fixture.platform.delegated.at(-1)).not.toHaveProperty('person')
    const taken = await fixture.api.post(`/apps/${app.id}/take-over`)
    expect(taken.data(Deployment)).toMatchObject({ id, giverId: fixture.principal.userId })
    await data(user)
    expect(fixture.platform.delegated.at(-1)?.person).toBeDefined()
  })
})

describe('an embed token', () => {
  const wanted = { origins: ['https://portal.example.com'] }
  const makeAs = (who: Principal) => fixture.service.as(who).post(`/apps/${app.id}/embed-token`, wanted)

  it.each(declared)(
    'can be created only by a user with every permission of the deployment: %s',
    async (permission) => {
      await deployAs(fixture.principal)
      const held = declared.filter((each) => each !== permission)
      const refused = await makeAs(person([...building, ...held]))
      expect(refused.status).toBe(403)
      expect(refused.error()).toMatchObject({
        ...{
          code: 'forbidden',
          details: [{ code: 'permission_not_held', params: { missing: [permission] } }],
        },
      })
      expect((await makeAs(person([...building, ...declared]))).status).toBe(201)
    },
  )

  it('adds its creator to the callers of each request, and is invalid once the creator is no longer a member', async () => {
    await deployAs(fixture.principal)
    const maker = person([...building, ...declared], { tokenId: 'tok_maker' })
    const made = JSON.parse((await makeAs(maker)).text).data
    expect(made).not.toHaveProperty('makerTokenId')
    const guest = fixture.embed(app.slug, made.token)
    expect(await guest.data('assets')).toMatchObject({ rows: [{ serial: 'A-1' }] })
    expect(fixture.platform.delegated.at(-1)).toMatchObject({
      ...{ callers: [{ userId: maker.userId, tokenId: 'tok_maker' }], workflow: { id: app.id } },
    })
    fixture.platform.rights.set(maker.userId, null)
    // The token of a call is reused for one second.
    await waitFor(async () => (await guest.definition()).status === 401)
    expect((await guest.definition()).error().code).toBe('invalid_token')
    expect((await guest.act({ source: 'notify', params: { text: 'x' } })).error().code).toBe('invalid_token')
  })

  it('is revoked when its creator loses a right that the deployment uses', async () => {
    await deployAs(fixture.principal)
    const makers = [person([...building, ...declared]), person([...building, ...declared])]
    const [lost, kept] = await Promise.all(
      makers.map(async (maker) => (await makeAs(maker)).data(EmbedToken.loose())),
    )
    const [loser, keeper] = makers
    fixture.platform.rights.set(keeper?.userId ?? '', declared)
    fixture.platform.rights.set(loser?.userId ?? '', declared.slice(1))
    await fixture.publish('user.role_changed', keeper?.userId ?? '')
    await fixture.publish('user.role_changed', loser?.userId ?? '')
    const revokedAt = async (id: unknown) =>
      (await fixture.api.get(`/apps/${app.id}/embed-tokens/${id}`)).data(EmbedToken).revokedAt
    await waitFor(() => revokedAt(lost?.id))
    expect(await revokedAt(kept?.id)).toBeNull()
  })
})
