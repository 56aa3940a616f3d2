import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { ChangeWindow, ConfigurationItem } from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { itsm } from '../service.js'

let service: TestService
let instant = Date.parse('2026-06-01T08:00:00.000Z')
/** A clock that advances by a second at each reading, so that no two events have the same instant. */
const ticking = {
  now: () => {
    instant += 1_000
    return new Date(instant).toISOString()
  },
}
beforeAll(async () => {
  service = await startTestService(itsm, { overrides: { clock: ticking } })
})
afterAll(() => service?.stop())

const path = '/itsm/change-windows'
const june = { from: '2026-06-20T00:00:00.000Z', to: '2026-06-21T00:00:00.000Z' }
const july = { from: '2026-07-20T00:00:00.000Z', to: '2026-07-21T00:00:00.000Z' }
const adder = (client: ApiClient) => async (fields: object) =>
  (await client.post(path, { name: 'Freeze', kind: 'blackout', span: june, ...fields })).data(ChangeWindow)
const recorder =
  (client: ApiClient) =>
  async (ciClass: string, name = 'db'): Promise<ConfigurationItem> =>
    (await client.post('/cmdb/items', { class: ciClass, name })).data(ConfigurationItem)

/** Reads the names of a whole list page by page, following its cursors. */
const walk = async (client: ApiClient, query: string): Promise<string[]> => {
  const names: string[] = []
  for (let after = ''; ; ) {
    const { items, pagination } = (await client.get(`${path}?${query}&limit=1${after}`)).page(ChangeWindow)
    names.push(...items.map(({ name }) => name))
    if (pagination.nextCursor === null) return names
    after = `&after=${encodeURIComponent(pagination.nextCursor)}`
  }
}

it('lists the change windows that match all filters, in every sort order', async () => {
  const principal = testPrincipal()
  const api = service.as(principal)
  const add = adder(api)
  const first = await add({ name: 'Quarter end', reason: 'The *books* are closed' })
  await add({ name: 'Nightly upkeep', kind: 'maintenance', span: july, classes: ['database'] })
  await add({ name: 'Audit', status: 'inactive', reason: 'Books of Zürich' })
  await api.patch(`${path}/${first.id}`, { status: 'inactive' })
  const expected: [query: string, names: string[]][] = [
    ['', ['Audit', 'Nightly upkeep', 'Quarter end']],
    ['sort=createdAt', ['Quarter end', 'Nightly upkeep', 'Audit']],
    ['sort=updatedAt', ['Nightly upkeep', 'Audit', 'Quarter end']],
    ['sort=name', ['Audit', 'Nightly upkeep', 'Quarter end']],
    ['sort=-name', ['Quarter end', 'Nightly upkeep', 'Audit']],
    ['status=inactive', ['Audit', 'Quarter end']],
    ['status=active,inactive', ['Audit', 'Nightly upkeep', 'Quarter end']],
    ['kind=blackout&kind=maintenance', ['Audit', 'Nightly upkeep', 'Quarter end']],
    ['kind=blackout,maintenance&status=active', ['Nightly upkeep']],
    [
      'kind=blackout,maintenance&status=active,inactive&sort=name',
      ['Audit', 'Nightly upkeep', 'Quarter end'],
    ],
    ['q=books', ['Audit', 'Quarter end']],
    ['q=zurich', ['Audit']],
    ['q=books+quarter', ['Quarter end']],
    ['q=up&kind=maintenance,blackout', ['Nightly upkeep']],
    [`q=upkeep&from=${june.to}`, ['Nightly upkeep']],
    [`q=books&from=${june.to}`, []],
    [`from=${june.from}&to=${june.to}&status=active,inactive`, ['Audit', 'Quarter end']],
  ]
  for (const [query, names] of expected) expect([query, await walk(api, query)]).toEqual([query, names])
  expect((await api.get(`${path}?sort=startsAt`)).error().code).toBe('validation_failed')
  for (const other of [testPrincipal(), testPrincipal({ ...principal, environment: 'staging' })])
    expect(await walk(service.as(other), 'q=books')).toEqual([])
})

it('lists change windows as of a past instant, with the filters applied to their state then', async () => {
  const principal = testPrincipal()
  const api = service.as(principal)
  const add = adder(api)
  const one = await add({ name: 'Quarter end' })
  const two = await add({ name: 'Upkeep', kind: 'maintenance', span: july })
  const moved = (
    await api.patch(`${path}/${one.id}`, { name: 'Audit', span: july, status: 'inactive' })
  ).data(ChangeWindow)
  await api.send('DELETE', `${path}/${one.id}`)
  const { createdAt: later } = await add({ name: 'Nights' })

  const then = `asOf=${two.createdAt}`
  expect((await api.get(`${path}?${then}`)).page(ChangeWindow).items).toEqual([two, one])
  expect(await walk(api, `${then}&sort=createdAt`)).toEqual(['Quarter end', 'Upkeep'])
  expect(await walk(api, `${then}&q=quarter`)).toEqual(['Quarter end'])
  expect(await walk(api, `${then}&q=audit`)).toEqual([])
  expect(await walk(api, `${then}&to=${june.to}`)).toEqual(['Quarter end'])
  expect(await walk(api, `${then}&from=${june.to}`)).toEqual(['Upkeep'])
  expect(await walk(api, `${then}&kind=blackout,maintenance&status=inactive`)).toEqual([])
  expect(await walk(api, `asOf=${moved.updatedAt}&status=active,inactive`)).toEqual(['Upkeep', 'Audit'])
  expect(await walk(api, `asOf=${moved.updatedAt}&from=${june.to}&q=audit`)).toEqual(['Audit'])
  expect(await walk(api, `asOf=${later}`)).toEqual(['Nights', 'Upkeep'])
  expect(await walk(api, 'asOf=2020-01-01T00:00:00Z')).toEqual([])
  expect((await api.get(`${path}?${then}&sort=name`)).error().details).toMatchObject([{ path: '/sort' }])

  const readAsOf = (asOf: string, client = api) => client.get(`${path}/${one.id}?asOf=${asOf}`)
  expect((await readAsOf(two.createdAt)).data(ChangeWindow)).toEqual(one)
  expect((await readAsOf(moved.updatedAt)).data(ChangeWindow)).toEqual(moved)
  for (const asOf of ['2020-01-01T00:00:00Z', later])
    expect((await readAsOf(asOf)).error().code).toBe('not_found')
  for (const other of [testPrincipal(), testPrincipal({ ...principal, environment: 'staging' })]) {
    expect((await readAsOf(two.createdAt, service.as(other))).error().code).toBe('not_found')
    expect(await walk(service.as(other), then)).toEqual([])
  }
})

it('finds the windows of an item as of a past instant by the class the item had then', async () => {
  const api = service.as(testPrincipal())
  const [add, record] = [adder(api), recorder(api)]
  const item = await record('database')
  await add({ name: 'databases', classes: ['database'] })
  await add({ name: 'servers', classes: ['server'] })
  await add({ name: 'the item as a server', ciIds: [item.id], classes: ['server'] })
  const { createdAt: then } = await add({ name: 'all' })
  const moved = (await api.patch(`/cmdb/items/${item.id}`, { class: 'server' })).data(ConfigurationItem)

  const asServer = ['all', 'the item as a server', 'servers']
  const asDatabase = ['all', 'databases']
  expect(await walk(api, `ciId=${item.id}`)).toEqual(asServer)
  expect(await walk(api, `ciId=${item.id}&asOf=${moved.updatedAt}`)).toEqual(asServer)
  expect(await walk(api, `ciId=${item.id}&asOf=${then}`)).toEqual(asDatabase)
  await api.send('DELETE', `/cmdb/items/${item.id}`)
  expect(await walk(api, `ciId=${item.id}`)).toEqual(['all'])
  expect(await walk(api, `ciId=${item.id}&asOf=${moved.updatedAt}`)).toEqual(asServer)
  expect(await walk(api, `ciId=${item.id}&asOf=${then}`)).toEqual(asDatabase)

  const late = await record('database', 'late')
  await add({ name: 'later' })
  expect(await walk(api, `ciId=${late.id}&asOf=${moved.updatedAt}`)).toEqual(['all'])
  expect(await walk(api, `ciId=${late.id}`)).toEqual(['later', 'all', 'databases'])
})
