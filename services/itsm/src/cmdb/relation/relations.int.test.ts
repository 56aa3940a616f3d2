import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CiRelation, ConfigurationItem, newId } from '@opsplane/contracts'
import { type ApiClient, type SharedService, testPrincipal, waitFor } from '@opsplane/testing'
import { joinItsm } from '../../joined.fixture.js'

let service: SharedService
const principal = testPrincipal()
let api: ApiClient
let shop: ConfigurationItem
let db: ConfigurationItem
let host: ConfigurationItem
let spare: ConfigurationItem
/** In order of creation: shop → db, db → host, shop → host, spare → db. */
let all: CiRelation[]

const record = async (name: string, fields: object = {}) =>
  (await api.post('/cmdb/items', { class: 'server', name, ...fields })).data(ConfigurationItem)
const relate = async (source: { id: string }, type: string, target: { id: string }) => {
  const made = await api.post('/cmdb/relations', { sourceId: source.id, targetId: target.id, type })
  const relation = made.data(CiRelation)
  await waitFor(() => new Date().toISOString() > relation.createdAt)
  return relation
}
/** Returns the current instant. Later events of the test have a later instant. */
const now = async () => {
  const instant = new Date().toISOString()
  await waitFor(() => new Date().toISOString() > instant)
  return instant
}

beforeAll(async () => {
  service = await joinItsm()
  api = service.as(principal)
  shop = await record('Checkout shop', { class: 'application' })
  db = await record('checkout-db-1', { class: 'database', description: 'Holds the café orders' })
  host = await record('node-7')
  spare = await record('node-8', { source: 'aws', nativeKey: 'arn:i-0abc' })
  all = [
    await relate(shop, 'depends_on', db),
    await relate(db, 'runs_on', host),
    await relate(shop, 'runs_on', host),
    await relate(spare, 'connects_to', db),
  ]
})
afterAll(() => service?.stop())

/** Reads a whole list one by one and returns the indexes of its relations in `all`. */
const walk = async (query: string, path = '/cmdb/relations'): Promise<number[]> => {
  const places: number[] = []
  for (let after = ''; ; ) {
    const page = (await api.get(`${path}?${query}&limit=1${after}`)).page(CiRelation)
    places.push(...page.items.map(({ id }) => all.findIndex((relation) => relation.id === id)))
    if (page.pagination.nextCursor === null) return places
    after = `&after=${encodeURIComponent(page.pagination.nextCursor)}`
  }
}
const of = (item: ConfigurationItem, query: string) => walk(query, `/cmdb/items/${item.id}/relations`)
const then = 'asOf=2120-01-01T00:00:00Z'

describe('the list of relations', () => {
  it('returns the relations that match all filters, now and as of a past instant', async () => {
    for (const also of ['', `&${then}`]) {
      const found = (query: string) => walk(`${query}${also}`)
      expect(await found('')).toEqual([3, 2, 1, 0])
      expect(await found('sort=createdAt')).toEqual([0, 1, 2, 3])
      expect(await found('type=runs_on,connects_to')).toEqual([3, 2, 1])
      expect(await found('type=runs_on&type=depends_on&sort=createdAt')).toEqual([0, 1, 2])
      expect(await found(`itemId=${db.id}`)).toEqual([3, 1, 0])
      expect(await found(`sourceId=${shop.id}`)).toEqual([2, 0])
      expect(await found(`targetId=${host.id}&type=runs_on,contains`)).toEqual([2, 1])
      expect(await found(`sourceId=${shop.id}&targetId=${db.id}`)).toEqual([0])
      expect(await found(`itemId=${db.id}&targetId=${host.id}`)).toEqual([1])
      expect(await found(`createdAfter=${all[1]?.createdAt}`)).toEqual([3, 2])
      expect(await found(`createdBefore=${all[1]?.createdAt}`)).toEqual([0])
    }
    for (const query of ['type=likes', 'direction=outgoing', 'sort=type', 'asOf=then', 'q='])
      expect([query, (await api.get(`/cmdb/relations?${query}`)).status]).toEqual([query, 422])
  })

  it('finds words of either end, now and as of a past instant', async () => {
    for (const also of ['', `&${then}`]) {
      const found = (query: string) => walk(`${query}${also}`)
      expect(await found('q=shop')).toEqual([2, 0])
      expect(await found('q=CHECKOUT')).toEqual([3, 2, 1, 0])
      expect(await found('q=cafe')).toEqual([3, 1, 0])
      expect(await found('q=database&type=runs_on,depends_on')).toEqual([1, 0])
      expect(await found('q=0abc')).toEqual([3])
      expect(await found('q=ode-7')).toEqual([2, 1])
      expect(await found(`q=node&sourceId=${shop.id}`)).toEqual([2])
      expect(await found('q=nothing')).toEqual([])
      expect(await found('q=shop+node')).toEqual([])
    }
  })

  it('of an item filters by direction and by words of the other end', async () => {
    for (const also of ['', `&${then}`]) {
      const found = (item: ConfigurationItem, query: string) => of(item, `${query}${also}`)
      expect(await found(db, '')).toEqual([3, 1, 0])
      expect(await found(db, 'direction=outgoing')).toEqual([1])
      expect(await found(db, 'direction=incoming&sort=createdAt')).toEqual([0, 3])
      expect(await found(db, 'direction=incoming&type=depends_on,runs_on')).toEqual([0])
      expect(await found(db, `sourceId=${spare.id}`)).toEqual([3])
      expect(await found(db, `targetId=${host.id}`)).toEqual([1])
      expect(await found(db, 'q=checkout')).toEqual([0])
      expect(await found(shop, 'q=checkout')).toEqual([0])
      expect(await found(db, 'q=node&direction=outgoing')).toEqual([1])
      expect(await found(db, `createdAfter=${all[0]?.createdAt}`)).toEqual([3, 1])
    }
    expect((await api.get(`/cmdb/items/${db.id}/relations?direction=up`)).status).toBe(422)
    expect((await api.get(`/cmdb/items/${newId('ci')}/relations`)).error().code).toBe('not_found')
  })

  it('paginates combined types and words, and rejects a cursor of another search', async () => {
    const first = (await api.get('/cmdb/relations?q=checkout&limit=2')).page(CiRelation)
    const after = encodeURIComponent(first.pagination.nextCursor ?? '')
    expect((await api.get(`/cmdb/relations?q=shop&limit=2&after=${after}`)).error().code).toBe(
      'invalid_cursor',
    )
    expect(await walk(`q=checkout&type=runs_on,depends_on,connects_to`)).toEqual([3, 2, 1, 0])
  })
})

describe('the list of relations as of a past instant', () => {
  it('contains relations that were removed later, and the names their ends had then', async () => {
    const own = service.as(testPrincipal())
    const add = async (name: string) =>
      (await own.post('/cmdb/items', { class: 'server', name })).data(ConfigurationItem)
    const empty = await now()
    const [web, mail] = [await add('web'), await add('mail')]
    const alone = await now()
    const body = { sourceId: web.id, targetId: mail.id, type: 'depends_on' }
    const relation = (await own.post('/cmdb/relations', body)).data(CiRelation)
    const related = await now()
    await own.patch(`/cmdb/items/${web.id}`, { name: 'proxy' })
    const renamed = await now()
    await own.send('DELETE', `/cmdb/relations/${relation.id}`)
    await own.send('DELETE', `/cmdb/items/${web.id}`)
    const ids = async (query: string, path = '/cmdb/relations') =>
      (await own.get(`${path}?${query}`)).page(CiRelation).items.map(({ id }) => id)

    expect(await ids('')).toEqual([])
    expect(await ids('q=proxy')).toEqual([])
    expect(await ids(`asOf=${alone}`)).toEqual([])
    expect((await own.get(`/cmdb/relations?asOf=${related}`)).page(CiRelation).items).toEqual([relation])
    expect(await ids(`asOf=${related}&q=web`)).toEqual([relation.id])
    expect(await ids(`asOf=${related}&q=proxy`)).toEqual([])
    expect(await ids(`asOf=${renamed}&q=proxy`)).toEqual([relation.id])
    expect(await ids(`asOf=${renamed}&q=web`)).toEqual([])
    expect(await ids(`asOf=${renamed}&q=ROX`)).toEqual([relation.id])

    const ofWeb = `/cmdb/items/${web.id}/relations`
    expect((await own.get(ofWeb)).error().code).toBe('not_found')
    expect((await own.get(`${ofWeb}?asOf=${empty}`)).error().code).toBe('not_found')
    expect(await ids(`asOf=${alone}`, ofWeb)).toEqual([])
    expect(await ids(`asOf=${related}&direction=outgoing&q=mail`, ofWeb)).toEqual([relation.id])
    expect(await ids(`asOf=${related}&q=web`, ofWeb)).toEqual([])
    expect(await ids(`asOf=${related}&direction=incoming`, ofWeb)).toEqual([])
    expect(await ids('', `/cmdb/items/${mail.id}/relations`)).toEqual([])

    const one = (query: string) => own.get(`/cmdb/relations/${relation.id}${query}`)
    expect((await one('')).error().code).toBe('not_found')
    expect((await one(`?asOf=${alone}`)).error().code).toBe('not_found')
    expect((await one(`?asOf=${related}`)).data(CiRelation)).toEqual(relation)
  })
})

describe('a single relation', () => {
  it('is readable at the Location of its creation', async () => {
    const [one, other] = [await record('one'), await record('other')]
    const body = { sourceId: one.id, targetId: other.id, type: 'manages' }
    const made = await api.post('/cmdb/relations', body)
    const relation = made.data(CiRelation)
    const location = made.headers.get('location') ?? ''
    expect(location).toContain(`/cmdb/relations/${relation.id}`)
    expect((await api.get(`/cmdb/relations/${relation.id}`)).data(CiRelation)).toEqual(relation)
    await api.send('DELETE', `/cmdb/relations/${relation.id}`)
    expect((await api.get(`/cmdb/relations/${relation.id}`)).error().code).toBe('not_found')
  })
})

it('hides all relations from another tenant', async () => {
  for (const stranger of [
    service.as(testPrincipal()),
    service.as({ ...principal, environment: 'staging' }),
  ]) {
    for (const also of ['', `&${then}`])
      for (const query of [
        '',
        'q=checkout',
        `itemId=${db.id}`,
        `sourceId=${shop.id}`,
        'type=runs_on,contains',
      ])
        expect((await stranger.get(`/cmdb/relations?${query}${also}`)).page(CiRelation).items).toEqual([])
    for (const query of ['', `?${then}`])
      expect((await stranger.get(`/cmdb/relations/${all[0]?.id}${query}`)).error().code).toBe('not_found')
    for (const query of ['', `?${then}`, '?q=checkout'])
      expect((await stranger.get(`/cmdb/items/${db.id}/relations${query}`)).error().code).toBe('not_found')
  }
  const desk = service.as({ ...principal, permissions: ['itsm:read'] })
  expect((await desk.get(`/cmdb/relations/${all[0]?.id}`)).error().code).toBe('insufficient_scope')
})
