import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Change, ConfigurationItem, type Principal, Problem } from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import * as itsm from '../service.js'

let service: TestService
let api: ApiClient
const principal = testPrincipal()
const stranger = testPrincipal()

beforeAll(async () => {
  service = await startTestService({ name: 'itsm', ...itsm })
  api = service.as(principal)
})
afterAll(async () => {
  await service?.stop()
})

const draft = async (fields: object = {}, as: Principal = principal): Promise<Change> =>
  (await service.as(as).post('/itsm/changes', { title: 'Move to new disks', ...fields })).data(Change)

const item = async (fields: object = {}): Promise<ConfigurationItem> =>
  (await api.post('/cmdb/items', { class: 'database', name: 'checkout-db', ...fields })).data(
    ConfigurationItem,
  )

const list = async (query: string, as: Principal = principal): Promise<Change[]> =>
  (await service.as(as).get(`/itsm/changes?${query}`)).page(Change).items

describe('drafting', () => {
  it('needs a title only, and is read by id and by number', async () => {
    const change = await draft()
    expect(change).toMatchObject({
      type: 'normal',
      status: 'draft',
      requester: principal.actor,
      requesterId: principal.userId,
      impact: 'medium',
      risk: 'moderate',
      approvals: [],
      conflicts: [],
      version: 1,
      allowedActions: ['edit', 'submit', 'cancel'],
    })
    for (const reference of [change.id, change.number])
      expect((await api.get(`/itsm/changes/${reference}`)).data(Change)).toEqual(change)
  })

  it('judges the risk by the items it touches', async () => {
    const { id } = await item({ criticality: 'critical' })
    const change = await draft({ ciIds: [id], impact: 'low', successProbability: 99 })
    expect(change.risk).toBe('high')
    expect(change.riskFactors).toEqual([
      { factor: 'impact_and_probability', risk: 'low', message: 'low impact, 99 % success' },
      { factor: 'ci_criticality', risk: 'high', message: expect.stringContaining('critical') },
      { factor: 'past_failures', risk: 'low', message: expect.stringContaining('0 of the last 0') },
    ])
  })

  it('names every item that is not there or is retired', async () => {
    const [kept, gone] = [await item(), await item({ status: 'operational' })]
    await api.post(`/cmdb/items/${gone.id}/retire`)
    const reply = await api.post('/itsm/changes', { title: 'T', ciIds: [kept.id, gone.id, 'ci_none'] })
    expect(reply.status).toBe(422)
    expect(reply.error().details.map(({ path, code }) => [path, code])).toEqual([
      ['/ciIds/1', 'retired'],
      ['/ciIds/2', 'unknown_item'],
    ])
  })

  it('refuses half a window, and one that ends before it starts', async () => {
    const [early, late] = ['2026-03-07T22:00:00.000Z', '2026-03-08T02:00:00.000Z']
    for (const [path, window] of [
      ['/plannedEnd', { plannedStart: early }],
      ['/plannedStart', { plannedEnd: early }],
      ['/plannedEnd', { plannedStart: late, plannedEnd: early }],
    ] as const) {
      const reply = await api.post('/itsm/changes', { title: 'T', ...window })
      expect(reply.error().details[0]?.path).toBe(path)
    }
  })
})

describe('listing', () => {
  it('filters by each field', async () => {
    const { id: ciId } = await item()
    const { id: problemId } = (await api.post('/itsm/problems', { title: 'It leaks' })).data(Problem)
    const other = await draft()
    const one = await draft({
      type: 'emergency',
      impact: 'high',
      successProbability: 10,
      assigneeId: 'usr_bob',
      assignmentGroup: 'db',
      ciIds: [ciId],
      problemId,
      plannedStart: '2026-03-07T22:00:00.000Z',
      plannedEnd: '2026-03-08T02:00:00.000Z',
    })
    const found = [
      'type=emergency',
      'risk=high&type=emergency',
      'assigneeId=usr_bob',
      'assignmentGroup=db',
      `ciId=${ciId}`,
      `problemId=${problemId}`,
      'plannedAfter=2026-03-07T00:00:00Z',
      'plannedBefore=2026-03-08T00:00:00Z',
    ]
    for (const query of found) expect((await list(query)).map(({ id }) => id)).toEqual([one.id])
    for (const query of ['status=draft', `requesterId=${principal.userId}`]) {
      const ids = (await list(query)).map(({ id }) => id)
      expect(ids).toEqual(expect.arrayContaining([one.id, other.id]))
    }
    expect((await list('sort=plannedStart')).map(({ id }) => id)[0]).toBe(one.id)
    expect(await list('status=closed')).toEqual([])
    expect(await list('status=draft', stranger)).toEqual([])
    expect((await service.as(stranger).get(`/itsm/changes/${one.id}`)).status).toBe(404)
  })

  it('pages through planned and unplanned ones without losing any', async () => {
    const tenant = testPrincipal()
    const day = (number: number) => `2026-04-0${number}T00:00:00.000Z`
    await draft({}, tenant)
    await draft({ plannedStart: day(3), plannedEnd: day(4) }, tenant)
    await draft({}, tenant)
    await draft({ plannedStart: day(1), plannedEnd: day(4) }, tenant)
    const seen: (string | null)[] = []
    for (let after = ''; ; ) {
      const reply = await service.as(tenant).get(`/itsm/changes?sort=plannedStart&limit=1${after}`)
      const { items, pagination } = reply.page(Change)
      seen.push(...items.map(({ plannedStart }) => plannedStart))
      if (pagination.nextCursor === null) break
      after = `&after=${encodeURIComponent(pagination.nextCursor)}`
    }
    expect(seen).toEqual([day(1), day(3), null, null])
  })
})
