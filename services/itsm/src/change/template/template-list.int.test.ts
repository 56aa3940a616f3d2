import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { ChangeTemplate } from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { itsm } from '../../service.js'

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

const path = '/itsm/change-templates'
const plans = { implementationPlan: 'Swap.', backoutPlan: 'Swap back.' }
const adder = (client: ApiClient) => async (fields: object) =>
  (await client.post(path, { name: 'Template', ...plans, ...fields })).data(ChangeTemplate)

/** Reads the names of a whole list page by page, following its cursors. */
const walk = async (client: ApiClient, query: string): Promise<string[]> => {
  const names: string[] = []
  for (let after = ''; ; ) {
    const { items, pagination } = (await client.get(`${path}?${query}&limit=1${after}`)).page(ChangeTemplate)
    names.push(...items.map(({ name }) => name))
    if (pagination.nextCursor === null) return names
    after = `&after=${encodeURIComponent(pagination.nextCursor)}`
  }
}

it('lists the change templates that match all filters, in every sort order', async () => {
  const principal = testPrincipal()
  const api = service.as(principal)
  const add = adder(api)
  await add({ name: 'Renew certificates' })
  const middle = await add({ name: 'Everything', status: 'inactive' })
  await add({ name: 'Disks of Zürich', description: 'Only with *spare parts* available.' })
  await add({ name: 'Backups', title: 'Renew the tapes', status: 'inactive' })
  await api.patch(`${path}/${middle.id}`, { maxDurationMinutes: 40 })
  const [first, second, third, fourth] = ['Renew certificates', 'Everything', 'Disks of Zürich', 'Backups']
  const byName = [fourth, third, second, first]
  const expected: [query: string, names: (string | undefined)[]][] = [
    ['', [fourth, third, second, first]],
    ['sort=createdAt', [first, second, third, fourth]],
    ['sort=updatedAt', [first, third, fourth, second]],
    ['sort=-updatedAt', [second, fourth, third, first]],
    ['sort=name', byName],
    ['sort=-name', byName.toReversed()],
    ['status=inactive', [fourth, second]],
    ['status=active,inactive', [fourth, third, second, first]],
    ['status=active&status=inactive&sort=name', byName],
    ['q=renew', [fourth, first]],
    ['q=spare', [third]],
    ['q=zurich', [third]],
    ['q=renew&status=inactive', [fourth]],
    [`createdAfter=${middle.createdAt}`, [fourth, third]],
    [`createdBefore=${middle.createdAt}`, [first]],
  ]
  for (const [query, names] of expected) expect([query, await walk(api, query)]).toEqual([query, names])
  expect((await api.get(`${path}?status=retired`)).error().code).toBe('validation_failed')
  for (const other of [testPrincipal(), testPrincipal({ ...principal, environment: 'staging' })])
    expect(await walk(service.as(other), 'q=renew')).toEqual([])
})

it('lists change templates as of a past instant, with the filters applied to their state then', async () => {
  const principal = testPrincipal()
  const api = service.as(principal)
  const add = adder(api)
  const one = await add({ name: 'Payments' })
  const two = await add({ name: 'Backups', status: 'inactive' })
  const renamed = (await api.patch(`${path}/${one.id}`, { name: 'Money', status: 'inactive' })).data(
    ChangeTemplate,
  )
  await api.send('DELETE', `${path}/${one.id}`)
  const { createdAt: later } = await add({ name: 'Rest' })

  const then = `asOf=${two.createdAt}&sort=createdAt`
  expect((await api.get(`${path}?${then}`)).page(ChangeTemplate).items).toEqual([one, two])
  expect(await walk(api, `${then}&q=pay`)).toEqual(['Payments'])
  expect(await walk(api, `${then}&q=money`)).toEqual([])
  expect(await walk(api, `${then}&status=inactive`)).toEqual(['Backups'])
  expect(await walk(api, `asOf=${renamed.updatedAt}&sort=-createdAt&status=inactive,active`)).toEqual([
    'Backups',
    'Money',
  ])
  expect(await walk(api, `asOf=${later}&sort=-createdAt`)).toEqual(['Rest', 'Backups'])
  expect(await walk(api, `asOf=${later}`)).toEqual(['Rest', 'Backups'])
  expect(await walk(api, 'asOf=2020-01-01T00:00:00Z&sort=-createdAt')).toEqual([])
  for (const sort of ['&sort=updatedAt', '&sort=name'])
    expect((await api.get(`${path}?asOf=${later}${sort}`)).error().details).toMatchObject([{ path: '/sort' }])

  const readAsOf = (asOf: string, client = api) => client.get(`${path}/${one.id}?asOf=${asOf}`)
  expect((await readAsOf(two.createdAt)).data(ChangeTemplate)).toEqual(one)
  expect((await readAsOf(renamed.updatedAt)).data(ChangeTemplate)).toEqual(renamed)
  for (const asOf of ['2020-01-01T00:00:00Z', later])
    expect((await readAsOf(asOf)).error().code).toBe('not_found')
  for (const other of [testPrincipal(), testPrincipal({ ...principal, environment: 'staging' })]) {
    expect((await readAsOf(two.createdAt, service.as(other))).error().code).toBe('not_found')
    expect(await walk(service.as(other), then)).toEqual([])
  }
})
