import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Incident, newId, Problem } from '@opsplane/contracts'
import { type ApiClient, type SharedService, testPrincipal, waitFor } from '@opsplane/testing'
import { joinItsm } from '../joined.fixture.js'

let service: SharedService
const principal = testPrincipal()
let api: ApiClient
let problem: Problem
/** In the order of linking. */
let linked: Incident[]
let other: Incident

const open = async (fields: object) =>
  (await api.post('/itsm/incidents', { title: 'Checkout is slow', ...fields })).data(Incident)
/** Returns the current instant. Later events of the test have a later instant. */
const now = async () => {
  const instant = new Date().toISOString()
  await waitFor(() => new Date().toISOString() > instant)
  return instant
}

beforeAll(async () => {
  service = await joinItsm()
  api = service.as(principal)
  problem = (await api.post('/itsm/problems', { title: 'Carts leak' })).data(Problem)
  const elsewhere = (await api.post('/itsm/problems', { title: 'Disks fill up' })).data(Problem)
  linked = [
    await open({ problemId: problem.id, title: 'Carts are empty', severity: 'critical', tags: ['cart'] }),
    await open({
      problemId: problem.id,
      assigneeId: 'usr_ada',
      assignmentGroup: 'web',
      callerId: principal.userId,
    }),
    await open({ problemId: problem.id, description: 'Carts vanish', impact: 'high', urgency: 'high' }),
  ]
  other = await open({ problemId: elsewhere.id, title: 'Carts are empty', severity: 'critical' })
  await open({ title: 'Unassigned carts' })
})
afterAll(() => service?.stop())

const path = () => `/itsm/problems/${problem.id}/incidents`
/** Reads a whole list one by one and returns the indexes of its incidents in `linked`. */
const walk = async (query: string, base = path()): Promise<number[]> => {
  const places: number[] = []
  for (let after = ''; ; ) {
    const page = (await api.get(`${base}?${query}&limit=1${after}`)).page(Incident)
    places.push(...page.items.map(({ id }) => linked.findIndex((incident) => incident.id === id)))
    if (page.pagination.nextCursor === null) return places
    after = `&after=${encodeURIComponent(page.pagination.nextCursor)}`
  }
}

it('lists the incidents of a problem with all filters and sort orders of incidents', async () => {
  expect(await walk('')).toEqual([2, 1, 0])
  expect(await walk('', `/itsm/problems/${problem.number}/incidents`)).toEqual([2, 1, 0])
  expect(await walk('sort=createdAt')).toEqual([0, 1, 2])
  expect(await walk('sort=number')).toEqual([0, 1, 2])
  expect(await walk('sort=-updatedAt')).toEqual([2, 1, 0])
  expect(await walk('sort=priority')).toEqual([0, 2, 1])
  expect(await walk('sort=-severity')).toEqual([2, 1, 0])
  expect(await walk('sort=severity&assigneeId=none')).toEqual([0, 2])
  expect(await walk('callerId=me')).toEqual([1])
  expect(await walk('q=carts')).toEqual([2, 0])
  expect(await walk('q=cart&tag=cart')).toEqual([0])
  expect(await walk('status=open,on_hold')).toEqual([2, 0])
  expect(await walk('severity=critical')).toEqual([0])
  expect(await walk('priority=P1,P2')).toEqual([2, 0])
  expect(await walk('assigneeId=usr_ada&assignmentGroup=web')).toEqual([1])
  expect(await walk('assigneeId=none')).toEqual([2, 0])
  expect(await walk(`createdAfter=${linked[1]?.createdAt}`)).not.toContain(0)
  for (const query of [`problemId=${problem.id}`, 'status=new', 'sort=title'])
    expect([query, (await api.get(`${path()}?${query}`)).status]).toEqual([query, 422])
})

it('lists as of a past instant the incidents linked then, in their state then', async () => {
  const [first, second] = linked
  const before = await now()
  await api.send('DELETE', `${path()}/${second?.id}`)
  await api.patch(`/itsm/incidents/${first?.id}`, { title: 'Baskets are empty', severity: 'low' })
  await api.send('DELETE', `/itsm/problems/${other.problemId}/incidents/${other.id}`)
  await api.post(path(), { incidentId: other.id })
  const then = `asOf=${before}`
  expect((await api.get(`${path()}?${then}`)).page(Incident).items).toEqual(linked.toReversed())
  expect(await walk(`${then}&sort=createdAt`)).toEqual([0, 1, 2])
  expect(await walk(`${then}&q=carts`)).toEqual([2, 0])
  expect(await walk(`${then}&severity=critical`)).toEqual([0])
  expect(await walk(`${then}&assigneeId=usr_ada`)).toEqual([1])
  const present = (await api.get(path())).page(Incident).items.map(({ id }) => id)
  expect(present).toEqual([other.id, linked[2]?.id, first?.id])
  expect(await walk('q=basket')).toEqual([0])
  expect((await api.get(`${path()}?${then}&sort=number`)).error().details[0]).toMatchObject({
    path: '/sort',
    code: 'not_with_as_of',
  })
})

it('returns not_found before the problem existed, and for other tenants', async () => {
  expect((await api.get(`${path()}?asOf=2020-01-01T00:00:00Z`)).error().code).toBe('not_found')
  expect((await api.get(`/itsm/problems/${newId('problem')}/incidents?q=carts`)).error().code).toBe(
    'not_found',
  )
  for (const stranger of [service.as(testPrincipal()), service.as({ ...principal, environment: 'staging' })])
    for (const query of ['', 'q=carts', 'asOf=2120-01-01T00:00:00Z'])
      expect((await stranger.get(`${path()}?${query}`)).error().code).toBe('not_found')
})
