import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { CiImpact, CiRelation, CiTopology, ConfigurationItem, Incident, newId } from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { itsm } from '../service.js'

let service: TestService
let api: ApiClient
const principal = testPrincipal()

beforeAll(async () => {
  service = await startTestService(itsm)
  api = service.as(principal)
})
afterAll(() => service?.stop())

const record = async (fields: object = {}, client = api) =>
  (await client.post('/cmdb/items', { class: 'server', name: 'web-1', ...fields })).data(ConfigurationItem)
const running = (name: string, fields: object = {}) => record({ name, status: 'operational', ...fields })
const relate = async (source: { id: string }, type: string, target: { id: string }) =>
  (await api.post('/cmdb/relations', { sourceId: source.id, targetId: target.id, type })).data(CiRelation)
const item = async (id: string) => (await api.get(`/cmdb/items/${id}`)).data(ConfigurationItem)

describe('configuration items', () => {
  it('are created, changed and moved through their lifecycle', async () => {
    const { id } = await record({ owner: 'usr_ada', attributes: { cores: 8 } })
    await api.patch(`/cmdb/items/${id}`, { criticality: 'critical' })
    await api.post(`/cmdb/items/${id}/activate`)
    await api.post(`/cmdb/items/${id}/fail`, { reason: 'Disk.' })
    await api.post(`/cmdb/items/${id}/repair`)
    await api.patch(`/cmdb/items/${id}`, { status: 'operational' })
    const retired = (await api.post(`/cmdb/items/${id}/retire`)).data(ConfigurationItem)
    expect(retired).toMatchObject({
      status: 'retired',
      allowedActions: [],
      version: 7,
      criticality: 'critical',
    })
    const late = await api.patch(`/cmdb/items/${id}`, { name: 'other' })
    expect(late.error().code).toBe('invalid_state_transition')
    const types = await service.sql`select type from events where stream_id = ${id} order by version`
    expect(types.map(({ type }) => type)).toEqual([
      'ci.created',
      'ci.updated',
      'ci.status_changed',
      'ci.status_changed',
      'ci.status_changed',
      'ci.status_changed',
      'ci.retired',
    ])
  })

  it('are unique by source and nativeKey, and the conflict names the existing item', async () => {
    const key = { source: 'aws', nativeKey: 'i-0abc' }
    const first = await record(key)
    const second = await api.post('/cmdb/items', { class: 'server', name: 'again', ...key })
    expect(second.status).toBe(409)
    expect(second.error().details[0]).toMatchObject({ path: '/nativeKey', params: { itemId: first.id } })
    const elsewhere = service.as({ ...principal, environment: 'staging' })
    expect((await record(key, elsewhere)).id).not.toBe(first.id)
    const half = await api.post('/cmdb/items', { class: 'server', name: 'half', source: 'aws' })
    expect(half.error().details[0]).toMatchObject({ path: '/nativeKey' })
  })

  it('are found by words in their descriptive fields', async () => {
    const own = service.as(testPrincipal())
    await record({ name: 'web-1', description: 'Behind the load balancer.' }, own)
    await record({ name: 'web-2', class: 'database', source: 'aws', nativeKey: 'arn:aws:rds:db-7' }, own)
    const names = async (query: string) =>
      (await own.get(`/cmdb/items?q=${query}`)).page(ConfigurationItem).items.map(({ name }) => name)
    expect(await names('balancer+load')).toEqual(['web-1'])
    expect(await names('rds')).toEqual(['web-2'])
    expect(await names('datab')).toEqual(['web-2'])
    expect(await names('web+-rds')).toEqual(['web-1'])
  })

  it('are found by filters and by part of the name, with pagination', async () => {
    const own = service.as(testPrincipal())
    for (const name of ['Checkout-DB', 'checkout_api', '100% web', 'mail'])
      await record({ name, class: name.endsWith('DB') ? 'database' : 'server' }, own)
    const names = async (query: string) =>
      (await own.get(`/cmdb/items?sort=name&${query}`)).page(ConfigurationItem).items.map(({ name }) => name)
    expect(await names('q=CHECKOUT')).toEqual(['Checkout-DB', 'checkout_api'])
    expect(await names('q=0%25')).toEqual(['100% web'])
    expect(await names('q=t_a')).toEqual(['checkout_api'])
    expect(await names('class=database,storage')).toEqual(['Checkout-DB'])
    expect(await names('status=operational')).toEqual([])
    const first = (await own.get('/cmdb/items?sort=name&limit=3')).page(ConfigurationItem)
    expect(first.pagination.hasMore).toBe(true)
    expect(await names(`limit=3&after=${first.pagination.nextCursor}`)).toHaveLength(1)
  })

  it('can be deleted only while planned and without relations', async () => {
    const [one, other, active] = [await record(), await record(), await running('web-2')]
    const relation = await relate(one, 'depends_on', other)
    const remove = (id: string) => api.send('DELETE', `/cmdb/items/${id}`)
    expect((await remove(other.id)).error()).toMatchObject({ code: 'conflict' })
    expect((await remove(active.id)).error().code).toBe('invalid_state_transition')
    expect((await api.send('DELETE', `/cmdb/relations/${relation.id}`)).status).toBe(204)
    expect((await remove(other.id)).status).toBe(204)
    expect((await api.get(`/cmdb/items/${other.id}`)).error().code).toBe('not_found')
  })

  it('never have a relation to an item that was deleted concurrently', async () => {
    for (let round = 0; round < 10; round++) {
      const [one, other] = [await record(), await record()]
      const body = { sourceId: one.id, targetId: other.id, type: 'depends_on' }
      const [related, deleted] = await Promise.all([
        api.post('/cmdb/relations', body),
        api.send('DELETE', `/cmdb/items/${other.id}`),
      ])
      expect([
        [201, 409],
        [422, 204],
      ]).toContainEqual([related.status, deleted.status])
    }
  })
})

describe('relations', () => {
  it('can be listed by item and type', async () => {
    const [app, db, host] = [await record(), await record(), await record()]
    const first = await relate(app, 'depends_on', db)
    const second = await relate(db, 'runs_on', host)
    const list = async (path: string) => (await api.get(path)).page(CiRelation).items
    expect(await list(`/cmdb/items/${db.id}/relations`)).toEqual([second, first])
    expect(await list(`/cmdb/relations?itemId=${db.id}&type=runs_on`)).toEqual([second])
    expect(await list(`/cmdb/items/${app.id}/relations`)).toEqual([first])
  })

  it('to the item itself, duplicates, and relations to a retired item are rejected', async () => {
    const [one, other] = [await record(), await record()]
    const send = (body: object) => api.post('/cmdb/relations', { type: 'depends_on', ...body })
    const self = await send({ sourceId: one.id, targetId: one.id })
    expect(self.error().details[0]).toMatchObject({ path: '/targetId' })
    await relate(one, 'depends_on', other)
    expect((await send({ sourceId: one.id, targetId: other.id })).error().code).toBe('conflict')
    expect((await send({ sourceId: other.id, targetId: one.id })).status).toBe(201)
    await api.post(`/cmdb/items/${one.id}/retire`)
    const late = await send({ type: 'runs_on', sourceId: one.id, targetId: other.id })
    expect(late.error().details[0]).toMatchObject({ path: '/sourceId', code: 'retired' })
  })

  it('created concurrently with the same ends and type exist only once', async () => {
    const [one, other] = [await record(), await record()]
    const body = { sourceId: one.id, targetId: other.id, type: 'depends_on' }
    const replies = await Promise.all(Array.from({ length: 8 }, () => api.post('/cmdb/relations', body)))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(409)])
    const logged = await service.sql`
      select 1 from events where type = 'ci.relation_added' and data->'after'->>'sourceId' = ${one.id}`
    expect(logged).toHaveLength(1)
  })
})

describe('the impact graph', () => {
  it('shows the affected items with distance and cause, and those saved by redundancy', async () => {
    const [shop, api1, db1, db2, disk] = [
      await running('shop', { class: 'service' }),
      await running('api', { redundancy: { depends_on: { minUp: 1 } } }),
      await running('db-1'),
      await running('db-2'),
      await running('disk'),
    ]
    const planned = await record({ name: 'planned' })
    const provided = await relate(api1, 'provides', shop)
    const needs1 = await relate(api1, 'depends_on', db1)
    await relate(api1, 'depends_on', db2)
    const onDisk = await relate(db1, 'runs_on', disk)
    await relate(disk, 'depends_on', shop)
    await relate(planned, 'runs_on', disk)
    await relate(disk, 'connects_to', db2)

    const alone = (await api.get(`/cmdb/items/${disk.id}/impact`)).data(CiImpact)
    expect(alone.affected.map(({ name, hops }) => [name, hops])).toEqual([['db-1', 1]])
    const both = (await api.post('/cmdb/impact', { itemIds: [disk.id, db2.id] })).data(CiImpact)
    expect(both.affected.map(({ name, hops }) => [name, hops])).toEqual([
      ['db-1', 1],
      ['api', 2],
      ['shop', 3],
    ])
    expect(both.affected[2]?.path).toEqual({
      items: [disk.id, db1.id, api1.id, shop.id],
      relations: [onDisk.id, needs1.id, provided.id],
    })
    expect(both).toMatchObject({ services: [{ id: shop.id, hops: 3 }], truncated: false })
    await api.post(`/cmdb/items/${db2.id}/fail`)
    expect((await api.get(`/cmdb/items/${disk.id}/impact`)).data(CiImpact).affected).toHaveLength(3)

    const around = async (query: string) =>
      (await api.get(`/cmdb/topology?around=${db1.id}&${query}`)).data(CiTopology)
    const names = ({ nodes }: CiTopology) => nodes.map(({ name, depth }) => `${name} ${depth}`).sort()
    expect(names(await around('depth=1'))).toEqual(['api 1', 'db-1 0', 'disk 1'])
    expect(names(await around('direction=downstream'))).toEqual(['api 1', 'db-1 0', 'disk 3', 'shop 2'])
    expect(names(await around('direction=upstream&types=runs_on'))).toEqual(['db-1 0', 'disk 1'])
    const cut = await around('limit=2')
    expect([cut.nodes.length, cut.truncated, cut.edges.length]).toEqual([2, true, 1])
    const whole = (await api.get('/cmdb/topology?limit=2')).data(CiTopology)
    expect([whole.nodes.length, whole.truncated, whole.depth]).toEqual([2, true, null])
  })
})

describe('another tenant', () => {
  it('receives the responses of unknown ids when it reads, changes or relates items', async () => {
    const [mine, other] = [await running('mine'), await running('other')]
    const relation = await relate(mine, 'depends_on', other)
    const strangers = [service.as(testPrincipal()), service.as({ ...principal, environment: 'staging' })]
    const absent = { item: newId('ci'), relation: newId('relation') }
    const plain = (text: string) => text.replace(/"requestId":"[^"]*"/, '')
    for (const stranger of strangers) {
      const own = await record({ name: 'own' }, stranger)
      const requests = (id: string, relationId: string): [string, string, object?][] => [
        ['GET', `/cmdb/items/${id}`],
        ['GET', `/cmdb/items/${id}?asOf=2036-01-01T00:00:00Z`],
        ['PATCH', `/cmdb/items/${id}`, { attributes: {} }],
        ['POST', `/cmdb/items/${id}/fail`, {}],
        ['DELETE', `/cmdb/items/${id}`],
        ['GET', `/cmdb/items/${id}/relations`],
        ['GET', `/cmdb/relations?itemId=${id}`],
        ['GET', `/cmdb/items/${id}/impact`],
        ['POST', '/cmdb/impact', { itemIds: [own.id, id] }],
        ['GET', `/cmdb/topology?around=${id}`],
        ['POST', '/cmdb/relations', { sourceId: own.id, targetId: id, type: 'runs_on' }],
        ['POST', '/cmdb/relations', { sourceId: id, targetId: own.id, type: 'runs_on' }],
        ['DELETE', `/cmdb/relations/${relationId}`],
        ['POST', '/itsm/incidents', { title: 'Down', ciId: id }],
      ]
      const theirs = requests(mine.id, relation.id)
      for (const [at, [method, path, body]] of requests(absent.item, absent.relation).entries()) {
        const wanted = await stranger.send(method, path, body ? { body } : {})
        const [, samePath = path, sameBody] = theirs[at] ?? []
        const got = await stranger.send(method, samePath, sameBody ? { body: sameBody } : {})
        expect([got.status, plain(got.text)]).toEqual([wanted.status, plain(wanted.text)])
      }
      const { nodes } = (await stranger.get('/cmdb/topology')).data(CiTopology)
      const shown = nodes.map(({ id }) => id)
      expect(shown).toContain(own.id)
      expect(shown).not.toContain(mine.id)
    }
    expect(await item(mine.id)).toMatchObject({ version: 1, status: 'operational' })
  })

  it('with only the read permission cannot write', async () => {
    const reader = service.as({ ...principal, permissions: ['cmdb:read'] })
    expect((await reader.get('/cmdb/items')).status).toBe(200)
    expect((await reader.post('/cmdb/items', { class: 'server', name: 'x' })).error().code).toBe(
      'insufficient_scope',
    )
    const desk = service.as({ ...principal, permissions: ['itsm:read', 'itsm:write'] })
    expect((await desk.get('/cmdb/items')).error().code).toBe('insufficient_scope')
  })
})

describe('incidents and their configuration items', () => {
  const open = (fields: object) => api.post('/itsm/incidents', { title: 'Down', ...fields })

  it('require an existing item, and are counted at the item while open', async () => {
    const { id } = await running('counted')
    const unknown = await open({ ciId: newId('ci') })
    expect(unknown.error().details[0]).toMatchObject({ path: '/ciId', code: 'unknown_item' })
    const incident = (await open({ ciId: id })).data(Incident)
    const second = (await open({})).data(Incident)
    await api.patch(`/itsm/incidents/${second.id}`, { ciId: id })
    expect((await item(id)).openIncidents).toBe(2)
    await api.post(`/itsm/incidents/${incident.id}/resolve`)
    expect((await item(id)).openIncidents).toBe(1)
    await api.post(`/cmdb/items/${id}/retire`)
    expect((await open({ ciId: id })).error().details[0]).toMatchObject({ path: '/ciId', code: 'retired' })
    expect((await api.patch(`/itsm/incidents/${second.id}`, { ciId: id, title: 'Still' })).status).toBe(200)
  })

  it('from before the CMDB existed keep their free-text ciId', async () => {
    const { id } = (await open({})).data(Incident)
    await service.sql`update incidents set state = (state::jsonb || '{"ciId":"rack 4"}')::json where id = ${id}`
    expect((await api.patch(`/itsm/incidents/${id}`, { ciId: 'rack 4', title: 'Down again' })).status).toBe(
      200,
    )
    expect((await api.patch(`/itsm/incidents/${id}`, { ciId: 'rack 5' })).status).toBe(422)
  })
})

it('reads items and incidents as of a past instant', async () => {
  const created = await record({ name: 'before' })
  const named = (await api.patch(`/cmdb/items/${created.id}`, { name: 'after' })).data(ConfigurationItem)
  const at = (when: string) => `/cmdb/items/${created.id}?asOf=${encodeURIComponent(when)}`
  const { openIncidents: _, ...plain } = await item(created.id)
  const past = (await api.get(at(created.updatedAt))).data(ConfigurationItem)
  expect(past).toEqual(created.updatedAt === named.updatedAt ? plain : created)
  expect((await api.get(at(named.updatedAt))).data(ConfigurationItem)).toEqual(plain)
  expect((await api.get(at('2020-01-01T00:00:00Z'))).error().code).toBe('not_found')
  expect((await api.get(at('yesterday'))).status).toBe(422)

  const incident = (await api.post('/itsm/incidents', { title: 'Down' })).data(Incident)
  await api.post(`/itsm/incidents/${incident.id}/resolve`)
  const early = await api.get(`/itsm/incidents/${incident.number}?asOf=2020-01-01T00:00:00Z`)
  expect(early.error().code).toBe('not_found')
  const late = await api.get(`/itsm/incidents/${incident.number}?asOf=2036-01-01T02:00:00%2B02:00`)
  expect(late.data(Incident)).toMatchObject({ status: 'resolved', version: 2 })
})

it('restores identical rows when its read models are rebuilt from the log', async () => {
  const rows = async () => [
    await service.sql`select * from configuration_items order by id`,
    await service.sql`select * from ci_relations order by id`,
    await service.sql`select * from ci_classes order by id`,
  ]
  await api.patch('/cmdb/classes/server', { label: 'Machine' })
  const before = await rows()
  expect(before.every((table) => table.length > 0)).toBe(true)
  await service.sql`update configuration_items set state = (state::jsonb || '{"name":"Tampered with"}')::json`
  await service.sql`delete from ci_relations where id in (select id from ci_relations limit 2)`
  await service.rebuild()
  expect(await rows()).toEqual(before)
})
