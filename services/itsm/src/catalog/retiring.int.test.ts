import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { type CatalogItem, CatalogRequest } from '@opsplane/contracts'
import { startTestService, type TestService } from '@opsplane/testing'
import { createReplica, raceWithTransaction, type TestReplica, toCommandMeta } from '../replica.fixture.js'
import { itsm } from '../service.js'
import { createActiveItem, order, type Team, team } from './catalog.fixture.js'
import { catalogItem } from './item-domain.js'

let service: TestService
let elsewhere: TestReplica
beforeAll(async () => {
  service = await startTestService(itsm)
  elsewhere = createReplica(service)
})
afterAll(async () => {
  await elsewhere?.database.close()
  await service?.stop()
})

type Reply = Awaited<ReturnType<Team['ada']['api']['post']>>

/**
 * Every request that refers to an item, prepared in advance, and the expected answer once the item cannot be
 * requested.
 */
const ways: Record<
  string,
  { refusal: number; ready: (members: Team, item: CatalogItem) => Promise<() => Promise<Reply>> }
> = {
  'a request': {
    refusal: 422,
    ready: async ({ ada }, { id }) => {
      return () => ada.api.post('/catalog/requests', { itemId: id })
    },
  },
  'a draft': {
    refusal: 422,
    ready: async ({ ada }, { id }) => {
      return () => ada.api.post('/catalog/requests', { itemId: id, draft: true })
    },
  },
  'an edited draft': {
    refusal: 409,
    ready: async ({ ada }, item) => {
      const { id } = await order(ada.api, item, { draft: true })
      return () => ada.api.patch(`/catalog/requests/${id}`, { quantity: 3 })
    },
  },
  'a submitted draft': {
    refusal: 409,
    ready: async ({ ada }, item) => {
      const { id } = await order(ada.api, item, { draft: true })
      return () => ada.api.post(`/catalog/requests/${id}/submit`)
    },
  },
}

it.each(Object.entries(ways))(
  'rejects %s while the item is being retired by another replica',
  async (_, { ready, refusal }) => {
    const members = team(service)
    const item = await createActiveItem(members)
    const act = await ready(members, item)
    const items = elsewhere.store.aggregate(catalogItem)
    const meta = toCommandMeta(members.manager.principal)
    const reply = await raceWithTransaction(
      elsewhere,
      meta,
      (unit) => unit.handle(items, item.id, { kind: 'retire', now: meta.now }),
      act,
    )
    expect(reply.status).toBe(refusal)
  },
)

it('submits a request with the new revision of an item that is being edited concurrently', async () => {
  const members = team(service)
  const item = await createActiveItem(members)
  const { id } = await order(members.ada.api, item, { draft: true })
  const items = elsewhere.store.aggregate(catalogItem)
  const meta = toCommandMeta(members.manager.principal)
  const approvals = [{ name: 'Budget', approverIds: [members.approver.id], waitFor: 'first' as const }]
  const reply = await raceWithTransaction(
    elsewhere,
    meta,
    (unit) => unit.handle(items, item.id, { kind: 'edit', patch: { approvals }, now: meta.now }),
    () => members.ada.api.post(`/catalog/requests/${id}/submit`),
  )
  expect(reply.data(CatalogRequest)).toMatchObject({
    itemRevision: item.revision + 1,
    status: 'awaiting_approval',
    approvals: [{ name: 'Budget' }],
  })
})

it('records no request event after the item was retired, under repeated concurrency', async () => {
  const members = team(service)
  for (let round = 0; round < 10; round++) {
    const item = await createActiveItem(members)
    const acts = await Promise.all(Object.values(ways).map(({ ready }) => ready(members, item)))
    acts.splice(round % (acts.length + 1), 0, () =>
      members.manager.api.post(`/catalog/items/${item.id}/retire`),
    )
    const replies = await Promise.all(acts.map((act) => act()))
    const others = replies
      .map(({ status }) => status)
      .filter((status) => ![200, 201, 409, 422].includes(status))
    expect(others).toEqual([])
    const late = await service.sql`
      select r.type from events r join events i on i.position < r.position
      where i.stream_id = ${item.id} and i.type = 'catalog_item.retired'
        and r.stream_type = 'catalog_requests' and r.data->'after'->>'itemId' = ${item.id}`
    expect(late.map(({ type }) => type)).toEqual([])
  }
})
