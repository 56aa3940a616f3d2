import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Change, ConfigurationItem, type Principal, Problem } from '@opsplane/contracts'
import { type ApiClient, type SharedService, testPrincipal } from '@opsplane/testing'
import { joinItsm } from '../joined.fixture.js'
import { newTemplate } from './template/template.fixture.js'

let service: SharedService
let api: ApiClient
const principal = testPrincipal()
const stranger = testPrincipal()

beforeAll(async () => {
  service = await joinItsm()
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

/** Reads the ids of a whole list page by page, following its cursors. */
const walk = async (query: string, as: Principal): Promise<string[]> => {
  const ids: string[] = []
  for (let after = ''; ; ) {
    const reply = await service.as(as).get(`/itsm/changes?${query}&limit=1${after}`)
    const { items, pagination } = reply.page(Change)
    ids.push(...items.map(({ id }) => id))
    if (pagination.nextCursor === null) return ids
    after = `&after=${encodeURIComponent(pagination.nextCursor)}`
  }
}

describe('drafting a change', () => {
  it('requires only a title, and the change is readable by id and by number', async () => {
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

  it('computes the risk from the criticality of its items', async () => {
    const { id } = await item({ criticality: 'critical' })
    const change = await draft({ ciIds: [id], impact: 'low', successProbability: 99 })
    expect(change.risk).toBe('high')
    expect(change.riskFactors).toEqual([
      { factor: 'impact_and_probability', risk: 'low', message: 'low impact, 99 % success' },
      { factor: 'ci_criticality', risk: 'high', message: expect.stringContaining('critical') },
      { factor: 'past_failures', risk: 'low', message: expect.stringContaining('0 of the last 0') },
    ])
  })

  it('reports every item that is unknown or retired', async () => {
    const [kept, gone] = [await item(), await item({ status: 'operational' })]
    await api.post(`/cmdb/items/${gone.id}/retire`)
    const reply = await api.post('/itsm/changes', { title: 'T', ciIds: [kept.id, gone.id, 'ci_none'] })
    expect(reply.status).toBe(422)
    expect(reply.error().details.map(({ path, code }) => [path, code])).toEqual([
      ['/ciIds/1', 'retired'],
      ['/ciIds/2', 'unknown_item'],
    ])
  })

  it('rejects a window with only one end, or that ends before it starts', async () => {
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

describe('the list of changes', () => {
  it('filters by each field', async () => {
    const { id: ciId } = await item()
    const problem = (await api.post('/itsm/problems', { title: 'It leaks' })).data(Problem)
    const { id: problemId, number: problemNumber } = problem
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
      `problemId=${problemNumber}`,
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

  it('paginates planned and unplanned changes without losing any', async () => {
    const tenant = testPrincipal()
    const day = (number: number) => `2026-04-0${number}T00:00:00.000Z`
    const unplanned = await draft({}, tenant)
    const later = await draft({ plannedStart: day(3), plannedEnd: day(4) }, tenant)
    const too = await draft({}, tenant)
    const sooner = await draft({ plannedStart: day(1), plannedEnd: day(4) }, tenant)
    const expected = [sooner, later, unplanned, too].map(({ id }) => id)
    expect(await walk('sort=plannedStart', tenant)).toEqual(expected)
  })

  it('paginates combined filters with several values without losing any', async () => {
    const tenant = testPrincipal()
    const types = ['standard', 'normal', 'emergency']
    const templates = {
      high: await newTemplate(service.as(tenant), { impact: 'high' }),
      low: await newTemplate(service.as(tenant), { impact: 'low' }),
    }
    const all: Change[] = []
    for (let index = 0; index < 9; index++) {
      const impact = index % 2 ? 'high' : 'low'
      const templateId = index % 3 === 0 ? templates[impact] : null
      all.push(await draft({ type: types[index % 3], impact, templateId, title: `No ${index}` }, tenant))
    }
    const canceled = all[4]?.id ?? ''
    await service.as(tenant).post(`/itsm/changes/${canceled}/cancel`, { reason: 'Not needed.' })
    const idsOf = (matches: (change: Change) => boolean) =>
      all
        .filter(matches)
        .map(({ id }) => id)
        .toReversed()
    expect(new Set(all.map(({ risk }) => risk)).size).toBe(2)
    const risks = new Set([all[0]?.risk])
    const queries: [string, (change: Change) => boolean][] = [
      ['status=draft,canceled', () => true],
      ['type=standard&type=emergency', ({ type }) => type !== 'normal'],
      ['status=draft,canceled&type=normal,emergency', ({ type }) => type !== 'standard'],
      ['status=draft&type=normal,emergency', ({ type, id }) => type !== 'standard' && id !== canceled],
      [
        `risk=${all[0]?.risk}&type=standard,normal`,
        ({ risk, type }) => risks.has(risk) && type !== 'emergency',
      ],
      ['risk=low,moderate,high', () => true],
    ]
    for (const [query, matches] of queries) {
      const expected = idsOf(matches)
      expect(expected.length).toBeGreaterThan(1)
      expect([query, await walk(query, tenant)]).toEqual([query, expected])
      expect([query, await walk(`${query}&asOf=2120-01-01T00:00:00Z`, tenant)]).toEqual([query, expected])
    }
  })

  it('finds words of title and description, and numbers', async () => {
    const tenant = testPrincipal()
    const disks = await draft({ title: 'New disks', description: 'For the *Größe* of it' }, tenant)
    const others = await draft({ title: 'Renew certificates (like CHG-1)', type: 'emergency' }, tenant)
    const last = await draft({ title: 'Disk-full alarm' }, tenant)
    expect(await walk('q=disk', tenant)).toEqual([last.id, disks.id])
    expect(await walk('q=disks+new', tenant)).toEqual([disks.id])
    expect(await walk('q=grosse', tenant)).toEqual([disks.id])
    expect(await walk(`q=${last.number}`, tenant)).toEqual([last.id])
    expect(await walk('q=chg-1', tenant)).toEqual([others.id, disks.id])
    expect(await walk(`q=${encodeURIComponent('-alarm disk')}`, tenant)).toEqual([disks.id])
    expect(await walk('q=disk+or+certificates&type=emergency,standard', tenant)).toEqual([others.id])
    expect(await walk('q=disk', stranger)).toEqual([])
    expect(await walk('q=nothing', tenant)).toEqual([])
  })

  it('is readable as of a past instant, with the filters applied to the state then', async () => {
    const tenant = testPrincipal()
    const as = service.as(tenant)
    const one = await draft({ title: 'New disks' }, tenant)
    const { id: ciId } = (
      await as.post('/cmdb/items', { class: 'database', name: 'db', status: 'operational' })
    ).data(ConfigurationItem)
    const two = await draft({ title: 'New cables', ciIds: [ciId] }, tenant)
    await as.patch(`/itsm/changes/${one.id}`, { title: 'Old disks', assigneeId: 'usr_bob' })
    await as.patch(`/itsm/changes/${two.id}`, { ciIds: [] })
    const canceled = await as.post(`/itsm/changes/${two.id}/cancel`, { reason: 'Not needed.' })
    const { updatedAt } = canceled.data(Change)
    const then = `asOf=${two.createdAt}`
    expect((await list(then, tenant)).map(({ title }) => title)).toEqual(['New cables', 'New disks'])
    expect(await list(then, tenant)).toEqual([two, one])
    expect(await walk(`${then}&status=draft,canceled`, tenant)).toEqual([two.id, one.id])
    expect(await walk(`${then}&sort=createdAt`, tenant)).toEqual([one.id, two.id])
    expect(await walk(`${then}&q=new`, tenant)).toEqual([two.id, one.id])
    expect(await walk(`${then}&q=old`, tenant)).toEqual([])
    expect(await walk(`${then}&ciId=${ciId}`, tenant)).toEqual([two.id])
    expect(await walk(`ciId=${ciId}`, tenant)).toEqual([])
    expect(await walk(`${then}&assigneeId=none`, tenant)).toEqual([two.id, one.id])
    expect(await walk(`${then}&approverId=me`, tenant)).toEqual([])
    expect(await walk(`asOf=${updatedAt}&status=canceled`, tenant)).toEqual([two.id])
    expect(await walk(`asOf=${updatedAt}&assigneeId=usr_bob&q=old`, tenant)).toEqual([one.id])
    expect(await walk('asOf=2020-01-01T00:00:00Z', tenant)).toEqual([])
    expect((await as.get(`/itsm/changes?${then}&sort=plannedStart`)).status).toBe(422)
  })
})
