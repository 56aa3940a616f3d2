import { afterAll, beforeAll, expect, it } from '@jest/globals'
import {
  CatalogItem,
  Change,
  ConfigurationItem,
  Incident,
  Problem,
  SlaPolicy,
  SlaTimerItem,
} from '@opsplane/contracts'
import { type ApiClient, type SharedService, testPrincipal, waitFor } from '@opsplane/testing'
import type { z } from 'zod'
import { joinItsm } from '../joined.fixture.js'

let service: SharedService
beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

const made = async <Schema extends z.ZodType>(api: ApiClient, path: string, body: object, schema: Schema) =>
  (await api.post(path, body)).data(schema)
const open = (api: ApiClient, fields: object = {}) =>
  made(api, '/itsm/incidents', { title: 'Checkout answers 502', ...fields }, Incident)

it('lists accept a number wherever they accept the id of a record, also as of a past instant', async () => {
  const principal = testPrincipal()
  const api = service.as(principal)
  const [parent, problem, change] = [
    await open(api),
    await made(api, '/itsm/problems', { title: 'The pool leaks' }, Problem),
    await made(api, '/itsm/changes', { title: 'Mend the pool', type: 'normal' }, Change),
  ]
  const child = await open(api, { parentId: parent.id })
  const [instance, mended] = [
    await open(api, { problemId: problem.id }),
    await open(api, { changeId: change.id, problemId: problem.id }),
  ]
  const now = new Date(Date.now() + 1).toISOString()
  await waitFor(() => new Date().toISOString() > now)
  const listed = async (query: string, client = api, path = '/itsm/incidents') =>
    (await client.get(`${path}?sort=createdAt&${query}`)).page(Incident).items.map(({ id }) => id)
  for (const [query, ids] of [
    [`parentId=${parent.number}`, [child.id]],
    [`problemId=${problem.number}`, [instance.id, mended.id]],
    [`changeId=${change.number}&problemId=${problem.id}`, [mended.id]],
    [`changeId=${problem.number}`, []],
    ['parentId=INC-999999', []],
  ] as const) {
    expect([query, await listed(query)]).toEqual([query, ids])
    expect([query, await listed(`${query}&asOf=${now}`)]).toEqual([query, ids])
  }
  const ofProblem = `/itsm/problems/${problem.number}/incidents`
  expect(await listed(`changeId=${change.number}`, api, ofProblem)).toEqual([mended.id])
  const staging = service.as({ ...principal, environment: 'staging' })
  await open(staging)
  expect(await listed(`parentId=${parent.number}`, staging)).toEqual([])
})

it('the list of SLA clocks accepts a number as entityId', async () => {
  const api = service.as(testPrincipal())
  const policy = { name: 'Gold', metric: 'resolution', goals: { medium: 60 } }
  await made(api, '/itsm/sla-policies', policy, SlaPolicy)
  const [one] = [await open(api), await open(api)]
  const clocks = async () =>
    (await api.get(`/itsm/sla-timers?entityId=${one.number}`)).page(SlaTimerItem).items
  await waitFor(async () => (await clocks()).length > 0)
  expect((await clocks()).map(({ entityId }) => entityId)).toEqual([one.id])
})

it('finds configuration items by source and nativeKey, and by creation time', async () => {
  const api = service.as(testPrincipal())
  const item = async (source: string, nativeKey: string) => {
    const body = { class: 'server', name: 'web-1', source, nativeKey }
    return (await made(api, '/cmdb/items', body, ConfigurationItem)).id
  }
  const [first, second, third] = [
    await item('aws', 'i-1'),
    await item('aws', 'i-2'),
    await item('vsphere', 'i-1'),
  ]
  const between = new Date(Date.now() + 1).toISOString()
  await waitFor(() => new Date().toISOString() > between)
  const later = await item('aws', 'i-3')
  const listed = async (query: string) => {
    const read = async (asOf: string) =>
      (await api.get(`/cmdb/items?sort=createdAt&${query}${asOf}`))
        .page(ConfigurationItem)
        .items.map(({ id }) => id)
    const now = await read('')
    expect(await read(`&asOf=${new Date().toISOString()}`)).toEqual(now)
    return now
  }
  expect(await listed('source=aws&nativeKey=i-1')).toEqual([first])
  expect(await listed('nativeKey=i-1')).toEqual([first, third])
  expect(await listed('source=aws&nativeKey=i')).toEqual([])
  expect(await listed(`createdAfter=${between}`)).toEqual([later])
  expect(await listed(`createdBefore=${between}&source=aws`)).toEqual([first, second])
})

it('finds catalog items by creation time', async () => {
  const api = service.as(testPrincipal())
  const begin = async (name: string) => (await made(api, '/catalog/items', { name }, CatalogItem)).id
  const first = await begin('Laptop')
  const between = new Date(Date.now() + 1).toISOString()
  await waitFor(() => new Date().toISOString() > between)
  const second = await begin('Telephone')
  const listed = async (query: string) =>
    (await api.get(`/catalog/items?${query}`)).page(CatalogItem).items.map(({ id }) => id)
  expect(await listed(`createdBefore=${between}`)).toEqual([first])
  expect(await listed(`createdAfter=${between}`)).toEqual([second])
  expect(await listed(`createdAfter=${between}&asOf=${new Date().toISOString()}`)).toEqual([second])
})
