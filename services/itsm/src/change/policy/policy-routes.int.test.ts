import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { ChangePolicy } from '@opsplane/contracts'
import { type ApiClient, type SharedService, testPrincipal } from '@opsplane/testing'
import { joinItsm } from '../../joined.fixture.js'

let service: SharedService
let api: ApiClient
const principal = testPrincipal()
const path = '/itsm/change-policies'

beforeAll(async () => {
  service = await joinItsm()
  api = service.as(principal)
})
afterAll(async () => {
  await service?.stop()
})

it('lists policies by their order field by default', async () => {
  for (const [name, order] of [
    ['Last', 30],
    ['First', 10],
    ['Middle', 20],
  ])
    expect((await api.post(path, { name, order })).status).toBe(201)
  const names = async (query: string) =>
    (await api.get(`${path}?${query}`)).page(ChangePolicy).items.map(({ name }) => name)
  expect(await names('')).toEqual(['First', 'Middle', 'Last'])
  expect(await names('sort=-createdAt')).toEqual(['Middle', 'First', 'Last'])
})

it('changes and deletes a policy, and rejects a stale If-Match', async () => {
  const policy = (await api.post(path, { name: 'Board' })).data(ChangePolicy)
  const one = `${path}/${policy.id}`
  const patched = await api.patch(one, { status: 'inactive' }, { 'if-match': '"1"' })
  expect(patched.data(ChangePolicy)).toMatchObject({ status: 'inactive', version: 2 })
  expect((await api.patch(one, { order: 5 }, { 'if-match': '"1"' })).status).toBe(412)
  expect((await api.get(one)).data(ChangePolicy)).toMatchObject({ status: 'inactive', order: 100 })
  expect((await api.send('DELETE', one)).status).toBe(204)
  expect((await api.get(one)).status).toBe(404)
})

it('reports the path of a rule that cannot be met', async () => {
  const reply = await api.post(path, { name: 'B', technical: [{ name: 'All', waitFor: 'all' }] })
  expect(reply.error().details[0]?.path).toBe('/technical/0/approverIds')
  const both = { name: 'B', technical: [{ name: 'Both', waitFor: { count: 1, percent: 1 } }] }
  expect((await api.post(path, both)).error().details).toMatchObject([
    {
      path: '/technical/0/waitFor',
      message: expect.stringMatching(/"first", "all", .*count.* or .*percent/),
    },
  ])
})

it('requires itsm:read to read a policy and itsm:manage to change it, within its workspace only', async () => {
  const policy = (await api.post(path, { name: 'Board' })).data(ChangePolicy)
  const agent = service.as({ ...principal, permissions: ['itsm:read', 'itsm:write', 'itsm:approve'] })
  expect((await agent.get(`${path}/${policy.id}`)).status).toBe(200)
  expect((await agent.post(path, { name: 'Mine' })).status).toBe(403)
  const stranger = service.as(testPrincipal())
  expect((await stranger.get(`${path}/${policy.id}`)).status).toBe(404)
  expect((await stranger.patch(`${path}/${policy.id}`, { name: 'Mine' })).status).toBe(404)
  expect((await stranger.get(path)).page(ChangePolicy).items).toEqual([])
})
