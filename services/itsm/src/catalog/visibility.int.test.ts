import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CatalogRequest, newId, type Principal } from '@opsplane/contracts'
import type { ApiClient, SharedService } from '@opsplane/testing'
import { joinItsm } from '../joined.fixture.js'
import {
  createActiveItem,
  listAllIds,
  listIds,
  order,
  requesterPermissions,
  rules,
  tasks,
  team,
} from './catalog.fixture.js'

let service: SharedService
beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

describe('access to requests', () => {
  it('is granted to the requester, the recipient, the approvers and the catalog managers', async () => {
    const members = team(service)
    const { manager, ada, ben, approver, other } = members
    const item = await createActiveItem(members, { approvals: rules(members) })
    const { id, number } = await order(ada.api, item, { requestedFor: 'usr_new' })
    const forBen = await order(manager.api, item, { requestedFor: ben.id })
    const open = await order(
      manager.api,
      await createActiveItem(members, { approvals: [{ name: 'Anyone' }] }),
    )
    const lists = {
      manager: [open.id, forBen.id, id],
      ada: [id],
      ben: [forBen.id],
      approver: [open.id, forBen.id, id],
      other: [open.id],
    }
    for (const [name, visible] of Object.entries(lists)) {
      const { api } = members[name as keyof typeof lists]
      expect([name, await listIds(api, '/catalog/requests')]).toEqual([name, visible])
      for (const one of [id, forBen.id, open.id])
        expect((await api.get(`/catalog/requests/${one}`)).status).toBe(visible.includes(one) ? 200 : 404)
    }
    expect((await ben.api.get(`/catalog/requests/${number}`)).error().code).toBe('not_found')
    expect((await ben.api.post(`/catalog/requests/${id}/cancel`, { reason: 'x' })).error().code).toBe(
      'not_found',
    )
    expect((await other.api.post(`/catalog/requests/${id}/approve`, {})).error().code).toBe('not_found')
    expect((await ben.api.get(`/catalog/requests/${id}?asOf=2030-01-01T00:00:00Z`)).status).toBe(404)
    expect((await approver.api.post(`/catalog/requests/${id}/cancel`, { reason: 'x' })).error().code).toBe(
      'insufficient_scope',
    )
  })

  it('is denied across workspaces and environments', async () => {
    const [mine, theirs] = [team(service), team(service)]
    const { id, number } = await order(mine.ada.api, await createActiveItem(mine))
    const staging = service.as({ ...mine.manager.principal, environment: 'staging' })
    for (const api of [theirs.manager.api, staging]) {
      for (const reference of [id, number])
        expect((await api.get(`/catalog/requests/${reference}`)).error().code).toBe('not_found')
      expect(await listIds(api, '/catalog/requests')).toEqual([])
      const reply = await api.post(`/catalog/requests/${id}/fulfill`, { outcome: 'complete' })
      expect(reply.error().code).toBe('not_found')
    }
  })

  it('lets only requesters edit and submit their drafts, but also recipients cancel them', async () => {
    const members = team(service)
    const { manager, ada, ben } = members
    const { id } = await order(ada.api, await createActiveItem(members), {
      draft: true,
      requestedFor: ben.id,
    })
    const path = `/catalog/requests/${id}`
    for (const { api } of [manager, ben]) {
      expect((await api.patch(path, { quantity: 2 })).error().code).toBe('forbidden')
      expect((await api.post(`${path}/submit`)).error().code).toBe('forbidden')
    }
    const canceled = (await ben.api.post(`${path}/cancel`, { reason: 'Have one.' })).data(CatalogRequest)
    expect(canceled).toMatchObject({ status: 'canceled', reason: 'Have one.' })
  })

  it('includes filters by approver, assignee, requester, item, status and time', async () => {
    const members = team(service)
    const { manager, ada, approver, other } = members
    const two = [...rules(members), { name: 'Anyone', waitFor: { count: 2 } }]
    const item = await createActiveItem(members, { approvals: two, tasks })
    const request = await order(ada.api, item)
    const path = `/catalog/requests/${request.id}`
    const find = (api: ApiClient, query: string) => listIds(api, `/catalog/requests?${query}`)
    expect(await find(approver.api, 'approverId=me')).toEqual([request.id])
    expect(await find(ada.api, 'approverId=me')).toEqual([])
    await approver.api.post(`${path}/approve`, {})
    expect(await find(approver.api, 'approverId=me')).toEqual([])
    expect(await find(manager.api, `approverId=${other.id}`)).toEqual([request.id])
    const { tasks: begun } = (await other.api.post(`${path}/approve`, {})).data(CatalogRequest)
    expect(await find(other.api, 'approverId=me')).toEqual([])
    expect(await find(manager.api, 'assigneeId=usr_tim')).toEqual([])
    await manager.api.post(`${path}/tasks/${begun[0]?.id}/complete`)
    expect(await find(manager.api, 'assigneeId=usr_tim')).toEqual([request.id])
    expect(
      await find(manager.api, `itemId=${item.id}&requesterId=${ada.id}&status=fulfilling,rejected`),
    ).toEqual([request.id])
    expect(await find(ada.api, 'requesterId=me')).toEqual([request.id])
    const forBen = await order(
      manager.api,
      await createActiveItem(members, { approvals: [{ name: 'Anyone' }] }),
      {
        requestedFor: members.ben.id,
      },
    )
    expect(await find(other.api, 'approverId=me')).toEqual([forBen.id])
    for (const id of [manager.id, members.ben.id])
      expect(await find(manager.api, `approverId=${id}`)).toEqual([])
    expect(await find(manager.api, `createdAfter=${forBen.createdAt}`)).toEqual([])
    expect(await find(manager.api, 'createdBefore=2020-01-01T00:00:00Z')).toEqual([])
  })
})

describe('the list of requests', () => {
  it('finds words of item and notes, and numbers, among the requests visible to the caller', async () => {
    const members = team(service)
    const { manager, ada, ben } = members
    const [laptop, desk] = [
      await createActiveItem(members),
      await createActiveItem(members, { name: 'Desk' }),
    ]
    const one = await order(ada.api, laptop, { notes: 'For the *Größe* of it, like REQ-3' })
    const two = await order(ada.api, desk, { notes: 'Next to the laptop', draft: true })
    const forBen = await order(manager.api, laptop, { requestedFor: ben.id })
    const find = ({ api }: { api: ApiClient }, query: string) => listAllIds(api, `/catalog/requests?${query}`)
    expect(await find(manager, 'q=laptop')).toEqual([forBen.id, two.id, one.id])
    expect(await find(ada, 'q=lap')).toEqual([two.id, one.id])
    expect(await find(ben, 'q=laptop')).toEqual([forBen.id])
    expect(await find(ada, 'q=grosse')).toEqual([one.id])
    expect(await find(ada, 'q=laptop+desk')).toEqual([two.id])
    expect(await find(manager, `q=${forBen.number}`)).toEqual([forBen.id, one.id])
    expect(await find(ada, `q=${forBen.number}`)).toEqual([one.id])
    expect(await find(ada, 'q=nothing')).toEqual([])
    expect(await find(ada, 'status=draft,submitted,fulfilling')).toEqual([two.id, one.id])
    expect(await find(manager, 'status=draft,fulfilling&q=laptop')).toEqual([forBen.id, two.id, one.id])
    expect(await find(manager, `status=draft,fulfilling&itemId=${desk.id}`)).toEqual([two.id])
  })

  it('returns as of a past instant only requests that were visible then and still are', async () => {
    const members = team(service)
    const { manager, ada, ben, approver, other } = members
    const item = await createActiveItem(members, { approvals: rules(members), tasks })
    const begun = await order(ada.api, item, { draft: true, notes: 'First' })
    const forBen = await order(manager.api, item, { requestedFor: ben.id, notes: 'Second' })
    const path = `/catalog/requests/${begun.id}`
    await ada.api.patch(path, { notes: 'Later' })
    await ada.api.post(`${path}/submit`)
    const approved = (await approver.api.post(`${path}/approve`, {})).data(CatalogRequest)
    const find = ({ api }: { api: ApiClient }, query: string) => listAllIds(api, `/catalog/requests?${query}`)
    const then = `asOf=${forBen.updatedAt}`
    const seen = {
      manager: [forBen.id, begun.id],
      ada: [begun.id],
      ben: [forBen.id],
      approver: [forBen.id],
      other: [],
    }
    for (const [name, ids] of Object.entries(seen))
      expect([name, await find(members[name as keyof typeof seen], then)]).toEqual([name, ids])
    expect(await find(approver, '')).toEqual([forBen.id, begun.id])
    expect(await find(approver, `asOf=${approved.updatedAt}`)).toEqual([forBen.id, begun.id])
    expect((await ada.api.get(`/catalog/requests?${then}`)).page(CatalogRequest).items).toEqual([begun])

    expect(await find(ada, `${then}&q=first`)).toEqual([begun.id])
    expect(await find(ada, 'q=first')).toEqual([])
    expect(await find(approver, `${then}&q=first`)).toEqual([])
    expect(await find(manager, `${then}&status=draft,awaiting_approval`)).toEqual([forBen.id, begun.id])
    expect(await find(approver, `${then}&approverId=me`)).toEqual([forBen.id])
    expect(await find(manager, `${then}&requesterId=me`)).toEqual([forBen.id])
    const assigned = 'assigneeId=usr_tim'
    const first = approved.tasks[0]?.id
    const worked = (await manager.api.post(`${path}/tasks/${first}/complete`)).data(CatalogRequest)
    expect(await find(manager, `asOf=${approved.updatedAt}&${assigned}`)).toEqual([])
    expect(await find(manager, `asOf=${worked.updatedAt}&${assigned}`)).toEqual([begun.id])

    // A user who may no longer decide on requests does not see the requests they were asked to decide on.
    const demoted = service.as({ ...approver.principal, permissions: ['catalog:read'] })
    expect(await listAllIds(demoted, `/catalog/requests?${then}`)).toEqual([])
    expect(await find(other, `asOf=${worked.updatedAt}`)).toEqual([])
    const staging = service.as({ ...manager.principal, environment: 'staging' })
    expect(await listAllIds(staging, `/catalog/requests?${then}`)).toEqual([])
    expect((await ada.api.get(`/catalog/requests?${then}&sort=updatedAt`)).status).toBe(422)
  })
})

describe('decisions on a request', () => {
  it('are rejected from the requester, also through an API key', async () => {
    const members = team(service)
    const { ada, approver } = members
    const powerful: Principal = { ...ada.principal, permissions: [...requesterPermissions, 'itsm:approve'] }
    const { id } = await order(ada.api, await createActiveItem(members, { approvals: [{ name: 'Anyone' }] }))
    const key: Principal = { ...powerful, actor: { id: newId('token'), name: 'ci', type: 'api_token' } }
    for (const principal of [powerful, key])
      expect((await service.as(principal).post(`/catalog/requests/${id}/approve`, {})).error().code).toBe(
        'forbidden',
      )
    const rejected = await approver.api.post(`/catalog/requests/${id}/reject`, { reason: 'Too dear.' })
    expect(rejected.data(CatalogRequest)).toMatchObject({ status: 'rejected', reason: 'Too dear.' })
    const late = await approver.api.post(`/catalog/requests/${id}/approve`, {})
    expect(late.error().code).toBe('invalid_state_transition')
  })
})
