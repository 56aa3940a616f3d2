import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type NewSlaPolicy, SlaCalendar, SlaPolicy } from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import type { z } from 'zod'
import { itsm } from '../service.js'
import { listAllIds } from './timer/list-ids.fixture.js'

/** Time stands still until the test changes it. */
let nowMs = Date.parse('2026-03-02T09:00:00.000Z')
const clock = { now: () => new Date(nowMs).toISOString() }
/** Returns the current instant and advances the clock, so that everything that follows is later. */
const pass = () => {
  const then = clock.now()
  nowMs += 60_000
  return then
}

let service: TestService
beforeAll(async () => {
  service = await startTestService(itsm, { overrides: { clock } })
})
afterAll(() => service?.stop())

async function addPolicy(api: ApiClient, policy: Partial<z.input<typeof NewSlaPolicy>>) {
  pass()
  const body = { name: 'Gold', metric: 'resolution', goals: { all: 60 }, goalsBy: 'all', ...policy }
  return (await api.post('/itsm/sla-policies', body)).data(SlaPolicy)
}
const monday = { monday: [{ from: '09:00', to: '17:00' }] }
async function addCalendar(api: ApiClient, calendar: object = {}) {
  pass()
  const body = { name: 'Office hours', timeZone: 'Europe/Berlin', week: monday, ...calendar }
  return (await api.post('/itsm/calendars', body)).data(SlaCalendar)
}
const remove = async (api: ApiClient, path: string) =>
  expect((await api.send('DELETE', path)).status).toBe(204)

describe('the list of SLA policies', () => {
  const path = '/itsm/sla-policies'

  async function four() {
    const principal = testPrincipal()
    const api = service.as(principal)
    const calendar = await addCalendar(api)
    const gold = await addPolicy(api, { name: 'Gold (Zürich)', calendarId: calendar.id })
    const silver = await addPolicy(api, { name: 'Silver', metric: 'response', status: 'inactive' })
    const next = await addPolicy(api, { name: 'Gold', entityType: 'problem', calendarId: calendar.id })
    const bronze = await addPolicy(api, { name: 'Bronze', entityType: 'change', status: 'inactive' })
    const list = (query: string) => listAllIds(api, path, query)
    return { principal, api, calendar, gold, silver, next, bronze, list }
  }

  it('returns the policies that match all filters, in every sort order', async () => {
    const { api, principal, calendar, gold, silver, next, bronze, list } = await four()
    const newest = [bronze.id, next.id, silver.id, gold.id]
    const expected: [string, string[]][] = [
      ['', newest],
      ['sort=createdAt', newest.toReversed()],
      ['sort=name', [bronze.id, next.id, gold.id, silver.id]],
      ['sort=-name', [silver.id, gold.id, next.id, bronze.id]],
      ['q=gold', [next.id, gold.id]],
      ['q=zur', [gold.id]],
      ['q=gold+-zurich', [next.id]],
      ['q=nothing', []],
      ['q=gold&sort=name', [next.id, gold.id]],
      ['status=active', [next.id, gold.id]],
      ['status=active,inactive', newest],
      ['status=active&status=inactive&sort=createdAt', newest.toReversed()],
      ['entityType=problem', [next.id]],
      ['entityType=change,incident', [bronze.id, silver.id, gold.id]],
      ['entityType=change,incident&status=inactive,active&sort=name', [bronze.id, gold.id, silver.id]],
      ['metric=response', [silver.id]],
      [`calendarId=${calendar.id}`, [next.id, gold.id]],
      [`calendarId=${calendar.id}&q=zurich`, [gold.id]],
      [`createdAfter=${gold.createdAt}&createdBefore=${bronze.createdAt}`, [next.id, silver.id]],
    ]
    for (const [query, ids] of expected) expect([query, await list(query)]).toEqual([query, ids])
    pass()
    await api.patch(`${path}/${gold.id}`, { name: 'Platinum' })
    expect(await list('sort=updatedAt')).toEqual([silver.id, next.id, bronze.id, gold.id])
    expect(await list('sort=-updatedAt')).toEqual([gold.id, bronze.id, next.id, silver.id])
    for (const query of ['status=on', 'entityType=server', 'metric=speed', 'q=', 'sort=status'])
      expect([query, (await api.get(`${path}?${query}`)).status]).toEqual([query, 422])
    for (const other of [testPrincipal(), { ...principal, environment: 'staging' as const }])
      expect(await listAllIds(service.as(other), path, 'q=gold&status=active,inactive')).toEqual([])
  })

  it('as of a past instant includes policies deleted later', async () => {
    const { api, principal, calendar, gold, silver, next, bronze, list } = await four()
    const then = pass()
    await api.patch(`${path}/${gold.id}`, { name: 'Platinum', status: 'inactive', calendarId: null })
    await remove(api, `${path}/${next.id}`)
    expect(await list('')).toEqual([bronze.id, silver.id, gold.id])
    expect(await list('q=gold')).toEqual([])

    const asOf = `asOf=${then}`
    expect((await api.get(`${path}?${asOf}`)).page(SlaPolicy).items).toEqual([bronze, next, silver, gold])
    const expected: [string, string[]][] = [
      [`${asOf}&sort=createdAt`, [gold.id, silver.id, next.id, bronze.id]],
      [`${asOf}&q=gold`, [next.id, gold.id]],
      [`${asOf}&q=platinum`, []],
      [`${asOf}&status=active`, [next.id, gold.id]],
      [`${asOf}&entityType=problem,change&status=active,inactive`, [bronze.id, next.id]],
      [`${asOf}&calendarId=${calendar.id}&metric=resolution`, [next.id, gold.id]],
      [`${asOf}&createdAfter=${gold.createdAt}`, [bronze.id, next.id, silver.id]],
      [`asOf=${silver.createdAt}`, [silver.id, gold.id]],
      [`asOf=${calendar.createdAt}`, []],
      ['asOf=2120-01-01T00:00:00Z&status=inactive', [bronze.id, silver.id, gold.id]],
    ]
    for (const [query, ids] of expected) expect([query, await list(query)]).toEqual([query, ids])
    expect((await api.get(`${path}?${asOf}&sort=name`)).error().details?.[0]?.code).toBe('not_with_as_of')

    const read = (id: string, at: string) => api.get(`${path}/${id}?asOf=${at}`)
    expect((await read(gold.id, then)).data(SlaPolicy)).toEqual(gold)
    expect((await read(gold.id, '2120-01-01T00:00:00Z')).data(SlaPolicy)).toMatchObject({ version: 2 })
    expect((await read(next.id, then)).data(SlaPolicy)).toEqual(next)
    expect((await read(next.id, clock.now())).status).toBe(404)
    expect((await read(silver.id, gold.createdAt)).status).toBe(404)
    for (const other of [testPrincipal(), { ...principal, environment: 'staging' as const }]) {
      expect(await listAllIds(service.as(other), path, asOf)).toEqual([])
      expect((await service.as(other).get(`${path}/${gold.id}?${asOf}`)).status).toBe(404)
    }
  })
})

describe('SLA calendars', () => {
  const path = '/itsm/calendars'

  it('can be listed by name and time zone, in every sort order', async () => {
    const principal = testPrincipal()
    const api = service.as(principal)
    const berlin = await addCalendar(api, { name: 'Office' })
    const night = await addCalendar(api, { name: 'Night shift', timeZone: 'America/New_York' })
    const plant = await addCalendar(api, { name: 'Plant, Berlin time' })
    const newest = [plant.id, night.id, berlin.id]
    const expected: [string, string[]][] = [
      ['', newest],
      ['sort=createdAt', newest.toReversed()],
      ['sort=name', [night.id, berlin.id, plant.id]],
      ['sort=-name', [plant.id, berlin.id, night.id]],
      ['q=berlin', [plant.id, berlin.id]],
      ['q=new+york', [night.id]],
      ['q=nig', [night.id]],
      ['q=berlin&sort=name', [berlin.id, plant.id]],
      ['timeZone=America/New_York', [night.id]],
      ['timeZone=Europe/Berlin&q=office', [berlin.id]],
      [`createdAfter=${berlin.createdAt}&createdBefore=${plant.createdAt}`, [night.id]],
    ]
    for (const [query, ids] of expected)
      expect([query, await listAllIds(api, path, query)]).toEqual([query, ids])
    pass()
    await api.patch(`${path}/${berlin.id}`, { name: 'Works' })
    expect(await listAllIds(api, path, 'sort=updatedAt')).toEqual([night.id, plant.id, berlin.id])
    expect(await listAllIds(api, path, 'sort=-updatedAt')).toEqual([berlin.id, plant.id, night.id])
    for (const other of [testPrincipal(), { ...principal, environment: 'staging' as const }])
      expect(await listAllIds(service.as(other), path, 'q=berlin')).toEqual([])
  })

  it('as of a past instant include calendars deleted later', async () => {
    const principal = testPrincipal()
    const api = service.as(principal)
    const office = await addCalendar(api)
    const night = await addCalendar(api, { name: 'Night shift', timeZone: 'Asia/Tokyo' })
    const then = pass()
    await api.patch(`${path}/${office.id}`, { name: 'Works', timeZone: 'Europe/Paris' })
    await remove(api, `${path}/${night.id}`)
    expect(await listAllIds(api, path)).toEqual([office.id])
    const asOf = `asOf=${then}`
    expect((await api.get(`${path}?${asOf}`)).page(SlaCalendar).items).toEqual([night, office])
    const expected: [string, string[]][] = [
      [`${asOf}&sort=createdAt`, [office.id, night.id]],
      [`${asOf}&q=office+berlin`, [office.id]],
      [`${asOf}&q=paris`, []],
      [`${asOf}&timeZone=Asia/Tokyo`, [night.id]],
      [`asOf=${office.createdAt}`, [office.id]],
      [`asOf=2026-03-02T08:59:59.999Z`, []],
    ]
    for (const [query, ids] of expected)
      expect([query, await listAllIds(api, path, query)]).toEqual([query, ids])
    expect((await api.get(`${path}?${asOf}&sort=updatedAt`)).status).toBe(422)
    expect((await api.get(`${path}/${night.id}?${asOf}`)).data(SlaCalendar)).toEqual(night)
    expect((await api.get(`${path}/${office.id}?${asOf}`)).data(SlaCalendar)).toEqual(office)
    expect((await api.get(`${path}/${night.id}?asOf=${clock.now()}`)).status).toBe(404)
    expect((await api.get(`${path}/${night.id}?asOf=${office.createdAt}`)).status).toBe(404)
    for (const other of [testPrincipal(), { ...principal, environment: 'staging' as const }]) {
      expect(await listAllIds(service.as(other), path, asOf)).toEqual([])
      expect((await service.as(other).get(`${path}/${office.id}?${asOf}`)).status).toBe(404)
    }
  })

  it('receive imported iCalendar holidays as a new revision, unless the import changes nothing', async () => {
    const principal = testPrincipal()
    const api = service.as(principal)
    const office = await addCalendar(api, { holidays: [{ date: '2026-12-25', name: 'Ours' }] })
    const days = ['20261225', '20270101'].map(
      (date) => `BEGIN:VEVENT\r\nDTSTART;VALUE=DATE:${date}\r\nSUMMARY:Theirs\r\nEND:VEVENT\r\n`,
    )
    const ical = `BEGIN:VCALENDAR\r\n${days.join('')}END:VCALENDAR\r\n`
    const take = (body: object, client = api) =>
      client.post(`${path}/${office.id}/import-holidays`, { ical, ...body })
    const named = ({ holidays }: SlaCalendar) => holidays.map(({ date, name }) => `${date} ${name}`)
    const taken = (await take({})).data(SlaCalendar)
    expect([named(taken), taken.revision]).toEqual([['2026-12-25 Ours', '2027-01-01 Theirs'], 2])
    expect((await take({})).data(SlaCalendar).revision).toBe(2)
    const replaced = (await take({ replace: true })).data(SlaCalendar)
    expect([named(replaced), replaced.revision]).toEqual([['2026-12-25 Theirs', '2027-01-01 Theirs'], 3])
    expect((await take({ ical: 'Christmas' })).error().details[0]?.path).toBe('/ical')
    const reader = service.as({ ...principal, permissions: ['itsm:read', 'itsm:write'] })
    expect((await take({}, reader)).error().code).toBe('insufficient_scope')
    expect((await take({}, service.as(testPrincipal()))).error().code).toBe('not_found')
  })

  it('can be deleted only once no policy uses them', async () => {
    const api = service.as(testPrincipal())
    const { id } = await addCalendar(api)
    const policy = await addPolicy(api, { calendarId: id })
    expect((await api.send('DELETE', `${path}/${id}`)).status).toBe(409)
    await api.patch(`/itsm/sla-policies/${policy.id}`, { calendarId: null })
    await remove(api, `${path}/${id}`)
  })
})
