import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CatalogItem, CatalogRequest, newId, type Principal, serviceCatalogEvents } from '@opsplane/contracts'
import { rebuild } from '@opsplane/eventstore'
import {
  type ApiClient,
  type EventRecorder,
  recordEvents,
  startTestService,
  type TestService,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import * as itsm from '../service.js'

let service: TestService
let recorder: EventRecorder

beforeAll(async () => {
  service = await startTestService({ name: 'itsm', ...itsm })
  recorder = await recordEvents(service.natsPrefix)
})
afterAll(async () => {
  await recorder?.stop()
  await service?.stop()
})

const asks = ['catalog:read', 'catalog:request']

/** Those who have to do with a catalogue, in a workspace of their own. */
function team(overrides: Partial<Principal> = {}) {
  const home = testPrincipal(overrides)
  const member = (permissions: string[]) => {
    const id = newId('user')
    const principal: Principal = {
      ...home,
      userId: id,
      actor: { id, name: id, type: 'user' },
      permissions,
    }
    return { id, principal, api: service.as(principal) }
  }
  return {
    home,
    keeper: member([...asks, 'catalog:write']),
    ada: member(asks),
    ben: member(asks),
    boss: member(['catalog:read', 'itsm:approve']),
    other: member(['catalog:read', 'itsm:approve']),
  }
}
type Team = ReturnType<typeof team>

const size = { type: 'object', properties: { size: { type: 'integer', minimum: 13, default: 15 } } }
const draft = async ({ keeper }: Team, fields: object = {}) =>
  (await keeper.api.post('/catalog/items', { name: 'Laptop', formSchema: size, ...fields })).data(CatalogItem)
async function offered(members: Team, fields: object = {}): Promise<CatalogItem> {
  const { id } = await draft(members, fields)
  return (await members.keeper.api.post(`/catalog/items/${id}/activate`)).data(CatalogItem)
}
const order = async (api: ApiClient, item: { id: string }, fields: object = {}) =>
  (await api.post('/catalog/requests', { itemId: item.id, ...fields })).data(CatalogRequest)
const idsOf = async (api: ApiClient, path: string) =>
  (await api.get(path)).page(CatalogItem.or(CatalogRequest)).items.map(({ id }) => id)
const published = (id: string, count: number) =>
  waitFor(() => {
    const events = recorder.published.filter(({ event }) => event.resource.id === id)
    return events.length >= count && events.map(({ event }) => event)
  })

describe('items', () => {
  it('are for readers while they are active', async () => {
    const members = team()
    const { keeper, ada } = members
    const [hidden, shown, gone] = [await draft(members), await offered(members), await offered(members)]
    await keeper.api.post(`/catalog/items/${gone.id}/retire`)
    expect(await idsOf(ada.api, '/catalog/items')).toEqual([shown.id])
    expect(await idsOf(ada.api, '/catalog/items?status=draft,retired')).toEqual([])
    expect(await idsOf(keeper.api, '/catalog/items?status=draft,retired')).toEqual([gone.id, hidden.id])
    for (const { id } of [hidden, gone]) {
      expect((await ada.api.get(`/catalog/items/${id}`)).error().code).toBe('not_found')
      expect((await keeper.api.get(`/catalog/items/${id}`)).status).toBe(200)
    }
    expect((await ada.api.post('/catalog/items', { name: 'No' })).error().code).toBe('insufficient_scope')
  })

  it('are found by category and tag, page by page', async () => {
    const members = team()
    const a = await offered(members, { name: 'A', category: 'hardware', tags: ['x', 'y'] })
    const b = await offered(members, { name: 'B', tags: ['y'] })
    const list = (query: string) => idsOf(members.ada.api, `/catalog/items?sort=name&${query}`)
    expect(await list('category=hardware')).toEqual([a.id])
    expect(await list('tag=y')).toEqual([a.id, b.id])
    expect(await list('tag=x&category=software')).toEqual([])
    const first = (await members.ada.api.get('/catalog/items?sort=name&limit=1')).page(CatalogItem)
    const next = `limit=1&after=${first.pagination.nextCursor}`
    expect(await list(next)).toEqual([b.id])
    const foreign = await members.keeper.api.get(`/catalog/items?sort=name&${next}`)
    expect(foreign.error().code).toBe('invalid_cursor')
  })

  it('are deleted as drafts alone, and read as they were', async () => {
    const members = team()
    const { api } = members.keeper
    const [one, active] = [await draft(members), await offered(members)]
    expect((await api.send('DELETE', `/catalog/items/${one.id}`)).status).toBe(204)
    expect((await api.get(`/catalog/items/${one.id}`)).status).toBe(404)
    const refused = await api.send('DELETE', `/catalog/items/${active.id}`)
    expect(refused.error().code).toBe('invalid_state_transition')
    await api.patch(`/catalog/items/${active.id}`, { name: 'Notebook' })
    await api.post(`/catalog/items/${active.id}/retire`)
    const was = await members.ada.api.get(`/catalog/items/${active.id}?asOf=${active.updatedAt}`)
    expect(was.data(CatalogItem)).toMatchObject({ name: 'Laptop', revision: 1, status: 'active' })
  })

  it('answer a bad schema with the place in it', async () => {
    const formSchema = { type: 'object', properties: { size: { type: 'integer', minimum: 'x' } } }
    const reply = await team().keeper.api.post('/catalog/items', { name: 'Bad', formSchema })
    expect(reply.status).toBe(422)
    expect(reply.error().details[0]).toMatchObject({
      in: 'body',
      path: '/formSchema/properties/size/minimum',
      code: 'invalid_schema',
    })
  })
})

const rules = ({ boss }: Team) => [{ name: 'Budget', approverIds: [boss.id] }]
const tasks = [
  { key: 'order', name: 'Order it' },
  { key: 'deliver', name: 'Deliver it', dependsOn: ['order'], assigneeId: 'usr_tim' },
]

describe('the life of a request', () => {
  it('is told by its events, in order', async () => {
    const members = team()
    const { ada, boss, keeper } = members
    const item = await offered(members, { approvals: rules(members), tasks })
    const request = await order(ada.api, item, { formData: { size: 14 }, draft: true })
    const path = `/catalog/requests/${request.number}`
    await ada.api.patch(path, { quantity: 2 })
    expect((await ada.api.post(`${path}/submit`)).data(CatalogRequest).status).toBe('awaiting_approval')
    const approved = (await boss.api.post(`${path}/approve`, { comment: 'Fine.' })).data(CatalogRequest)
    expect(approved.tasks.map(({ status, allowedActions }) => [status, allowedActions.length])).toEqual([
      ['open', 5],
      ['pending', 1],
    ])
    const [first, second] = approved.tasks.map(({ id }) => `${path}/tasks/${id}`)
    await keeper.api.patch(String(first), { assigneeId: keeper.id })
    await keeper.api.post(`${first}/start`)
    await keeper.api.post(`${first}/complete`, { notes: 'Order 4711.' })
    const done = (await keeper.api.post(`${second}/skip`)).data(CatalogRequest)
    expect(done).toMatchObject({ status: 'closed_complete', quantity: 2, allowedActions: [] })
    expect(done.tasks.map(({ allowedActions }) => allowedActions)).toEqual([[], []])

    const events = await published(request.id, 11)
    expect(events.map(({ type }) => type.replace('request.', ''))).toEqual([
      ...['created', 'updated', 'submitted', 'updated', 'approved', 'updated'],
      ...['task_updated', 'task_updated', 'task_updated', 'task_updated', 'fulfilled'],
    ])
    for (const { type, data } of events) {
      const definition = Object.entries(serviceCatalogEvents).find(([name]) => name === type)?.[1]
      expect(definition?.data.parse(data)).toEqual(data)
    }
    const during = await ada.api.get(`${path}?asOf=${request.createdAt}`)
    expect(during.data(CatalogRequest)).toMatchObject({
      status: 'draft',
      quantity: 1,
      allowedActions: ['edit', 'submit', 'cancel'],
    })
  })

  it('goes without approvals and tasks straight to its end by hand', async () => {
    const members = team()
    const request = await order(members.ada.api, await offered(members))
    expect(request).toMatchObject({
      status: 'fulfilling',
      formData: { size: 15 },
      requestedFor: members.ada.id,
    })
    const path = `/catalog/requests/${request.id}`
    expect((await members.ada.api.post(`${path}/fulfill`, { outcome: 'complete' })).error().code).toBe(
      'insufficient_scope',
    )
    const ended = await members.keeper.api.post(`${path}/fulfill`, { outcome: 'incomplete' })
    expect(ended.data(CatalogRequest).status).toBe('closed_incomplete')
    const types = (await published(request.id, 4)).map(({ type }) => type)
    expect(types).toEqual(['request.created', 'request.submitted', 'request.updated', 'request.fulfilled'])
  })

  it('names each fault of the form', async () => {
    const members = team()
    const item = await offered(members)
    const reply = await members.ada.api.post('/catalog/requests', {
      itemId: item.id,
      formData: { size: 3, x: 1 },
    })
    expect(reply.status).toBe(422)
    expect(reply.error().details).toEqual([
      expect.objectContaining({
        in: 'body',
        path: '/formData/size',
        params: { schemaPath: '/properties/size/minimum' },
      }),
      expect.objectContaining({
        in: 'body',
        path: '/formData/x',
        params: { schemaPath: '/additionalProperties' },
      }),
    ])
    for (const itemId of [(await draft(members)).id, (await offered(team())).id, 'cit_none']) {
      const absent = await members.ada.api.post('/catalog/requests', { itemId })
      expect(absent.error().details[0]).toMatchObject({ path: '/itemId', code: 'unknown_item' })
    }
  })

  it('keeps the plan it was submitted with', async () => {
    const members = team()
    const item = await offered(members, { approvals: rules(members), tasks })
    const { id, itemRevision } = await order(members.ada.api, item)
    await members.keeper.api.patch(`/catalog/items/${item.id}`, { tasks: [], approvals: [] })
    await members.keeper.api.post(`/catalog/items/${item.id}/retire`)
    const approved = await members.boss.api.post(`/catalog/requests/${id}/approve`, {})
    expect(itemRevision).toBe(1)
    expect(approved.data(CatalogRequest).tasks.map(({ key }) => key)).toEqual(['order', 'deliver'])
  })

  it('is repeated once under an Idempotency-Key, and kept from stale changes', async () => {
    const members = team()
    const item = await offered(members)
    const body = { itemId: item.id, draft: true }
    const key = { 'idempotency-key': newId('request') }
    const [one, again] = [
      (await members.ada.api.post('/catalog/requests', body, key)).data(CatalogRequest),
      (await members.ada.api.post('/catalog/requests', body, key)).data(CatalogRequest),
    ]
    expect(again).toEqual(one)
    const path = `/catalog/requests/${one.id}`
    await members.ada.api.patch(path, { quantity: 2 })
    const stale = await members.ada.api.patch(path, { quantity: 3 }, { 'if-match': `"${one.version}"` })
    expect(stale.error().code).toBe('precondition_failed')
  })
})

describe('who sees a request', () => {
  it('asked for it, gets it, decides on it, or keeps the catalogue', async () => {
    const members = team()
    const { keeper, ada, ben, boss, other } = members
    const item = await offered(members, { approvals: rules(members) })
    const { id, number } = await order(ada.api, item, { requestedFor: 'usr_new' })
    const forBen = await order(keeper.api, item, { requestedFor: ben.id })
    const open = await order(keeper.api, await offered(members, { approvals: [{ name: 'Anyone' }] }))
    const lists = {
      keeper: [open.id, forBen.id, id],
      ada: [id],
      ben: [forBen.id],
      boss: [open.id, forBen.id, id],
      other: [open.id],
    }
    for (const [name, visible] of Object.entries(lists)) {
      const { api } = members[name as keyof typeof lists]
      expect([name, await idsOf(api, '/catalog/requests')]).toEqual([name, visible])
      for (const one of [id, forBen.id, open.id])
        expect((await api.get(`/catalog/requests/${one}`)).status).toBe(visible.includes(one) ? 200 : 404)
    }
    expect((await ben.api.get(`/catalog/requests/${number}`)).error().code).toBe('not_found')
    expect((await ben.api.post(`/catalog/requests/${id}/cancel`, { reason: 'x' })).error().code).toBe(
      'not_found',
    )
    expect((await other.api.post(`/catalog/requests/${id}/approve`, {})).error().code).toBe('not_found')
    expect((await ben.api.get(`/catalog/requests/${id}?asOf=2030-01-01T00:00:00Z`)).status).toBe(404)
    expect((await boss.api.post(`/catalog/requests/${id}/cancel`, { reason: 'x' })).error().code).toBe(
      'insufficient_scope',
    )
  })

  it('sees none of another workspace or environment', async () => {
    const [mine, theirs] = [team(), team()]
    const { id, number } = await order(mine.ada.api, await offered(mine))
    const staging = service.as({ ...mine.keeper.principal, environment: 'staging' })
    for (const api of [theirs.keeper.api, staging]) {
      for (const reference of [id, number])
        expect((await api.get(`/catalog/requests/${reference}`)).error().code).toBe('not_found')
      expect(await idsOf(api, '/catalog/requests')).toEqual([])
      const reply = await api.post(`/catalog/requests/${id}/fulfill`, { outcome: 'complete' })
      expect(reply.error().code).toBe('not_found')
    }
  })

  it('changes and submits own drafts alone, and cancels what one has to do with', async () => {
    const members = team()
    const { keeper, ada, ben } = members
    const { id } = await order(ada.api, await offered(members), { draft: true, requestedFor: ben.id })
    const path = `/catalog/requests/${id}`
    for (const { api } of [keeper, ben]) {
      expect((await api.patch(path, { quantity: 2 })).error().code).toBe('forbidden')
      expect((await api.post(`${path}/submit`)).error().code).toBe('forbidden')
    }
    const canceled = (await ben.api.post(`${path}/cancel`, { reason: 'Have one.' })).data(CatalogRequest)
    expect(canceled).toMatchObject({ status: 'canceled', reason: 'Have one.' })
  })

  it('finds requests by what is to be done about them', async () => {
    const members = team()
    const { keeper, ada, boss, other } = members
    const two = [...rules(members), { name: 'Anyone', waitFor: { count: 2 } }]
    const item = await offered(members, { approvals: two, tasks })
    const request = await order(ada.api, item)
    const path = `/catalog/requests/${request.id}`
    const find = (api: ApiClient, query: string) => idsOf(api, `/catalog/requests?${query}`)
    expect(await find(boss.api, 'approverId=me')).toEqual([request.id])
    expect(await find(ada.api, 'approverId=me')).toEqual([])
    await boss.api.post(`${path}/approve`, {})
    expect(await find(boss.api, 'approverId=me')).toEqual([])
    expect(await find(keeper.api, `approverId=${other.id}`)).toEqual([request.id])
    const { tasks: begun } = (await other.api.post(`${path}/approve`, {})).data(CatalogRequest)
    expect(await find(other.api, 'approverId=me')).toEqual([])
    expect(await find(keeper.api, 'assigneeId=usr_tim')).toEqual([])
    await keeper.api.post(`${path}/tasks/${begun[0]?.id}/complete`)
    expect(await find(keeper.api, 'assigneeId=usr_tim')).toEqual([request.id])
    expect(
      await find(keeper.api, `itemId=${item.id}&requesterId=${ada.id}&status=fulfilling,rejected`),
    ).toEqual([request.id])
    expect(await find(ada.api, 'requesterId=me')).toEqual([request.id])
    expect(await find(keeper.api, `requesterId=me`)).toEqual([])
    expect(await find(keeper.api, `createdAfter=${request.createdAt}`)).toEqual([])
    expect(await find(keeper.api, 'createdBefore=2020-01-01T00:00:00Z')).toEqual([])
  })
})

describe('decisions', () => {
  it('are not made by who asked, not even through an API key', async () => {
    const members = team()
    const { ada, boss } = members
    const powerful: Principal = { ...ada.principal, permissions: [...asks, 'itsm:approve'] }
    const { id } = await order(ada.api, await offered(members, { approvals: [{ name: 'Anyone' }] }))
    const key: Principal = { ...powerful, actor: { id: newId('token'), name: 'ci', type: 'api_token' } }
    for (const principal of [powerful, key])
      expect((await service.as(principal).post(`/catalog/requests/${id}/approve`, {})).error().code).toBe(
        'forbidden',
      )
    const rejected = await boss.api.post(`/catalog/requests/${id}/reject`, { reason: 'Too dear.' })
    expect(rejected.data(CatalogRequest)).toMatchObject({ status: 'rejected', reason: 'Too dear.' })
    const late = await boss.api.post(`/catalog/requests/${id}/approve`, {})
    expect(late.error().code).toBe('invalid_state_transition')
  })
})

describe('at once', () => {
  it('the last two tasks end a request exactly once', async () => {
    const members = team()
    const item = await offered(members, {
      tasks: [
        { key: 'a', name: 'A' },
        { key: 'b', name: 'B' },
      ],
    })
    const requests = await Promise.all(Array.from({ length: 10 }, () => order(members.ada.api, item)))
    const end = (request: CatalogRequest, index: number, action: string) =>
      members.keeper.api.post(`/catalog/requests/${request.id}/tasks/${request.tasks[index]?.id}/${action}`)
    const replies = await Promise.all(
      requests.flatMap((request) => [end(request, 0, 'complete'), end(request, 1, 'fail')]),
    )
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200))
    for (const { id } of requests) {
      const events = await service.sql`
        select version from events where stream_id = ${id} and type = 'request.fulfilled'`
      expect(events).toHaveLength(1)
      const ended = (await members.ada.api.get(`/catalog/requests/${id}`)).data(CatalogRequest)
      expect(ended.status).toBe('closed_incomplete')
    }
  })

  it('two approvers begin the work exactly once', async () => {
    const members = team()
    const approvals = [...rules(members), { name: 'Other', approverIds: [members.other.id] }]
    const { id } = await order(members.ada.api, await offered(members, { approvals, tasks }))
    const path = `/catalog/requests/${id}/approve`
    await Promise.all([members.boss, members.other].map(({ api }) => api.post(path, {})))
    const rows = await service.sql`select type from events where stream_id = ${id} order by version`
    expect(rows.map(({ type }) => type).slice(3)).toEqual([
      'request.updated',
      'request.approved',
      'request.updated',
    ])
  })
})

describe('the tables', () => {
  it('are made anew from the events as they were', async () => {
    const members = team()
    await order(members.ada.api, await offered(members, { approvals: rules(members), tasks }))
    const dump = async () => ({
      items: await service.sql`select * from catalog_items order by id`,
      revisions: await service.sql`select * from catalog_item_revisions order by id`,
      requests: await service.sql`select * from catalog_requests order by id`,
    })
    const before = await dump()
    expect(before.revisions.length).toBeGreaterThan(0)
    await service.sql`update catalog_requests set state = (state::jsonb || '{"status":"draft"}')::json`
    await service.sql`delete from catalog_item_revisions`
    const { deciders, projectedTables } = itsm
    await rebuild({ adminUrl: service.adminUrl, schema: 'itsm', deciders, projectedTables })
    expect(await dump()).toEqual(before)
  })
})
