import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CatalogItem, CatalogRequest, newId, serviceCatalogEvents } from '@opsplane/contracts'
import {
  type EventRecorder,
  recordEvents,
  startTestService,
  type TestService,
  waitFor,
} from '@opsplane/testing'
import { itsm } from '../service.js'
import { createActiveItem, draft, listAllIds, listIds, order, rules, tasks, team } from './catalog.fixture.js'

let service: TestService
let recorder: EventRecorder

beforeAll(async () => {
  service = await startTestService(itsm)
  recorder = await recordEvents(service.natsPrefix)
})
afterAll(async () => {
  await recorder?.stop()
  await service?.stop()
})

const published = (id: string, count: number) =>
  waitFor(() => {
    const events = recorder.published.filter(({ event }) => event.resource.id === id)
    return events.length >= count && events.map(({ event }) => event)
  })

describe('catalog items', () => {
  it('are visible to readers only while active', async () => {
    const members = team(service)
    const { manager, ada } = members
    const [hidden, shown, gone] = [
      await draft(members),
      await createActiveItem(members),
      await createActiveItem(members),
    ]
    await manager.api.post(`/catalog/items/${gone.id}/retire`)
    expect(await listIds(ada.api, '/catalog/items')).toEqual([shown.id])
    expect(await listIds(ada.api, '/catalog/items?status=draft,retired')).toEqual([])
    expect(await listIds(manager.api, '/catalog/items?status=draft,retired')).toEqual([gone.id, hidden.id])
    for (const { id } of [hidden, gone]) {
      expect((await ada.api.get(`/catalog/items/${id}`)).error().code).toBe('not_found')
      expect((await manager.api.get(`/catalog/items/${id}`)).status).toBe(200)
    }
    expect((await ada.api.post('/catalog/items', { name: 'No' })).error().code).toBe('insufficient_scope')
  })

  it('can be activated, retired and requested, and reject unknown fields in those actions', async () => {
    const members = team(service)
    const { manager, ada } = members
    const item = await draft(members)
    const refused = async (api: typeof manager.api, path: string) => {
      const [detail] = (await api.post(path, { reason: 'Replaced.' })).error().details
      return [detail?.path, detail?.code]
    }
    const unknown = ['/reason', 'unrecognized_key']
    expect(await refused(manager.api, `/catalog/items/${item.id}/activate`)).toEqual(unknown)
    expect((await manager.api.post(`/catalog/items/${item.id}/activate`, {})).status).toBe(200)
    expect(await refused(manager.api, `/catalog/items/${item.id}/retire`)).toEqual(unknown)
    const { number } = await order(ada.api, item, { draft: true })
    expect(await refused(ada.api, `/catalog/requests/${number}/submit`)).toEqual(unknown)
  })

  it('are found by category and tag, with pagination', async () => {
    const members = team(service)
    const a = await createActiveItem(members, { name: 'A', category: 'hardware', tags: ['x', 'y'] })
    const b = await createActiveItem(members, { name: 'B', tags: ['y'] })
    const list = (query: string) => listIds(members.ada.api, `/catalog/items?sort=name&${query}`)
    expect(await list('category=hardware')).toEqual([a.id])
    expect(await list('tag=y')).toEqual([a.id, b.id])
    expect(await list('tag=x&category=software')).toEqual([])
    const first = (await members.ada.api.get('/catalog/items?sort=name&limit=1')).page(CatalogItem)
    const next = `limit=1&after=${first.pagination.nextCursor}`
    expect(await list(next)).toEqual([b.id])
    const foreign = await members.manager.api.get(`/catalog/items?sort=name&${next}`)
    expect(foreign.error().code).toBe('invalid_cursor')
  })

  it('are found by words, by several statuses, and as of a past instant', async () => {
    const members = team(service)
    const { manager, ada } = members
    const laptop = await createActiveItem(members, {
      name: 'Laptop',
      tags: ['mobile-work'],
      category: 'hardware',
    })
    const desk = await draft(members, { name: 'Desk', description: 'For work *upright*' })
    const list = (query: string, { api } = manager) => listAllIds(api, `/catalog/items?${query}`)
    expect(await list('q=work')).toEqual([desk.id, laptop.id])
    expect(await list('q=work', ada)).toEqual([laptop.id])
    expect(await list('q=lap')).toEqual([laptop.id])
    expect(await list('q=hardware+mobile')).toEqual([laptop.id])
    expect(await list('q=upright+hardware')).toEqual([])
    expect(await list('status=draft,active&q=work&tag=mobile-work')).toEqual([laptop.id])
    expect(await list('status=draft,active,retired')).toEqual([desk.id, laptop.id])

    await manager.api.patch(`/catalog/items/${laptop.id}`, { name: 'Notebook', tags: [] })
    const then = `asOf=${desk.updatedAt}`
    expect(await list(then, ada)).toEqual([laptop.id])
    const was = (await ada.api.get(`/catalog/items?${then}`)).page(CatalogItem).items
    expect(was).toEqual([{ ...laptop, allowedActions: [] }])
    await manager.api.post(`/catalog/items/${laptop.id}/retire`)
    await manager.api.send('DELETE', `/catalog/items/${desk.id}`)
    expect(await list('q=lap')).toEqual([])
    expect(await list(then)).toEqual([desk.id, laptop.id])
    expect(await list(`${then}&status=draft,active`)).toEqual([desk.id, laptop.id])
    expect(await list(`${then}&q=lap`)).toEqual([laptop.id])
    expect(await list(`${then}&q=notebook`)).toEqual([])
    expect(await list(`${then}&tag=mobile-work`)).toEqual([laptop.id])
    expect(await list(then, ada)).toEqual([])
    expect(await list('', ada)).toEqual([])
    expect((await manager.api.get(`/catalog/items?${then}&sort=name`)).status).toBe(422)
  })

  it('can be deleted only as drafts, and are readable as of a past instant', async () => {
    const members = team(service)
    const { api } = members.manager
    const [one, active] = [await draft(members), await createActiveItem(members)]
    expect((await api.send('DELETE', `/catalog/items/${one.id}`)).status).toBe(204)
    expect((await api.get(`/catalog/items/${one.id}`)).status).toBe(404)
    const refused = await api.send('DELETE', `/catalog/items/${active.id}`)
    expect(refused.error().code).toBe('invalid_state_transition')
    await api.patch(`/catalog/items/${active.id}`, { name: 'Notebook' })
    const then = `/catalog/items/${active.id}?asOf=${active.updatedAt}`
    const was = { name: 'Laptop', revision: 1, status: 'active' }
    expect((await members.ada.api.get(then)).data(CatalogItem)).toMatchObject(was)
    await api.post(`/catalog/items/${active.id}/retire`)
    expect((await api.get(then)).data(CatalogItem)).toMatchObject(was)
    expect((await members.ada.api.get(then)).error().code).toBe('not_found')
  })

  it('return the path of the fault in an invalid form schema', async () => {
    const formSchema = { type: 'object', properties: { size: { type: 'integer', minimum: 'x' } } }
    const reply = await team(service).manager.api.post('/catalog/items', { name: 'Bad', formSchema })
    expect(reply.status).toBe(422)
    expect(reply.error().details[0]).toMatchObject({
      in: 'body',
      path: '/formSchema/properties/size/minimum',
      code: 'invalid_schema',
    })
  })
})

describe('the lifecycle of a request', () => {
  it('is reported by events, in order', async () => {
    const members = team(service)
    const { ada, approver, manager } = members
    const item = await createActiveItem(members, { approvals: rules(members), tasks })
    const request = await order(ada.api, item, { formData: { size: 14 }, draft: true })
    const path = `/catalog/requests/${request.number}`
    await ada.api.patch(path, { quantity: 2 })
    expect((await ada.api.post(`${path}/submit`)).data(CatalogRequest).status).toBe('awaiting_approval')
    const approved = (await approver.api.post(`${path}/approve`, { comment: 'Fine.' })).data(CatalogRequest)
    // Working on tasks requires a different permission than approving.
    expect(approved.tasks.map(({ allowedActions }) => allowedActions)).toEqual([[], []])
    const working = (await manager.api.get(path)).data(CatalogRequest)
    expect(working.tasks.map(({ status, allowedActions }) => [status, allowedActions.length])).toEqual([
      ['open', 5],
      ['pending', 1],
    ])
    const [first, second] = approved.tasks.map(({ id }) => `${path}/tasks/${id}`)
    await manager.api.patch(String(first), { assigneeId: manager.id })
    await manager.api.post(`${first}/start`)
    await manager.api.post(`${first}/complete`, { notes: 'Order 4711.' })
    const done = (await manager.api.post(`${second}/skip`)).data(CatalogRequest)
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

  it('skips to fulfillment and is closed manually if there are no approvals and tasks', async () => {
    const members = team(service)
    const request = await order(members.ada.api, await createActiveItem(members))
    expect(request).toMatchObject({
      status: 'fulfilling',
      formData: { size: 15 },
      requestedFor: members.ada.id,
    })
    const path = `/catalog/requests/${request.id}`
    expect((await members.ada.api.post(`${path}/fulfill`, { outcome: 'complete' })).error().code).toBe(
      'insufficient_scope',
    )
    const ended = await members.manager.api.post(`${path}/fulfill`, { outcome: 'incomplete' })
    expect(ended.data(CatalogRequest).status).toBe('closed_incomplete')
    const types = (await published(request.id, 4)).map(({ type }) => type)
    expect(types).toEqual(['request.created', 'request.submitted', 'request.updated', 'request.fulfilled'])
  })

  it('reports every fault in the form data', async () => {
    const members = team(service)
    const item = await createActiveItem(members)
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
    for (const itemId of [
      (await draft(members)).id,
      (await createActiveItem(team(service))).id,
      'cit_none',
    ]) {
      const absent = await members.ada.api.post('/catalog/requests', { itemId })
      expect(absent.error().details[0]).toMatchObject({ path: '/itemId', code: 'unknown_item' })
    }
  })

  it('uses the plan of the item revision it was submitted with', async () => {
    const members = team(service)
    const item = await createActiveItem(members, { approvals: rules(members), tasks })
    const { id, itemRevision } = await order(members.ada.api, item)
    await members.manager.api.patch(`/catalog/items/${item.id}`, { tasks: [], approvals: [] })
    await members.manager.api.post(`/catalog/items/${item.id}/retire`)
    const approved = await members.approver.api.post(`/catalog/requests/${id}/approve`, {})
    expect(itemRevision).toBe(1)
    expect(approved.data(CatalogRequest).tasks.map(({ key }) => key)).toEqual(['order', 'deliver'])
  })

  it('creates one request per Idempotency-Key, and rejects changes with a stale version', async () => {
    const members = team(service)
    const item = await createActiveItem(members)
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

describe('the read models of the catalog', () => {
  it('are identical after being rebuilt from the events', async () => {
    const members = team(service)
    await order(members.ada.api, await createActiveItem(members, { approvals: rules(members), tasks }))
    const dump = async () => ({
      items: await service.sql`select * from catalog_items order by id`,
      revisions: await service.sql`select * from catalog_item_revisions order by id`,
      requests: await service.sql`select * from catalog_requests order by id`,
    })
    const before = await dump()
    expect(before.revisions.length).toBeGreaterThan(0)
    await service.sql`update catalog_requests set state = (state::jsonb || '{"status":"draft"}')::json`
    await service.sql`delete from catalog_item_revisions`
    await service.rebuild()
    expect(await dump()).toEqual(before)
  })
})
