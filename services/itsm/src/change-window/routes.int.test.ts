import { afterAll, beforeAll, describe, expect, it, test } from '@jest/globals'
import { ChangeWindow, ConfigurationItem, changeWindowEvents, newId } from '@opsplane/contracts'
import {
  type ApiClient,
  type EventRecorder,
  recordEvents,
  type SharedService,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import { joinItsm } from '../joined.fixture.js'

let service: SharedService
let recorder: EventRecorder
beforeAll(async () => {
  service = await joinItsm()
  recorder = await recordEvents(service.natsPrefix)
})
afterAll(async () => {
  await recorder?.stop()
  await service?.stop()
})

const path = '/itsm/change-windows'
const span = { from: '2026-12-20T00:00:00.000Z', to: '2027-01-03T00:00:00.000Z' }
const night = { timeZone: 'Europe/Berlin', weekdays: ['saturday'], from: '22:00', to: '04:00' }
const setUp = async (api: ApiClient, fields: object = {}) =>
  (await api.post(path, { name: 'Freeze', kind: 'blackout', span, ...fields })).data(ChangeWindow)
const item = async (api: ApiClient, ciClass = 'server') =>
  (await api.post('/cmdb/items', { class: ciClass, name: newId('ci') })).data(ConfigurationItem).id

describe('a change window', () => {
  it('is created, changed and deleted, with an event for each', async () => {
    const api = service.as(testPrincipal())
    const { id, startsAt, endsAt } = await setUp(api)
    expect({ from: startsAt, to: endsAt }).toEqual(span)
    const changed = (await api.patch(`${path}/${id}`, { recurrence: night })).data(ChangeWindow)
    expect(changed).toMatchObject({ span: null, startsAt: null, endsAt: null, version: 2 })
    expect((await api.get(`${path}/${id}`)).data(ChangeWindow)).toEqual(changed)
    expect((await api.send('DELETE', `${path}/${id}`)).status).toBe(204)
    expect((await api.get(`${path}/${id}`)).error().code).toBe('not_found')
    const published = await waitFor(() => {
      const events = recorder.published.filter(({ event }) => event.resource.id === id)
      return events.length === 3 && events
    })
    expect(published.map(({ event }) => event.type)).toEqual(Object.keys(changeWindowEvents))
  })

  it('applies to existing items and classes, and reports the path of every unknown one', async () => {
    const api = service.as(testPrincipal())
    await api.post('/cmdb/classes', { name: 'printer', label: 'Printer' })
    const known = await item(api)
    const body = { name: 'Freeze', kind: 'blackout', span }
    const covering = {
      ciIds: [known, newId('ci'), newId('ci')],
      classes: ['server', 'printer', 'severs'],
    }
    const refused = {
      code: 'validation_failed',
      details: [
        { in: 'body', path: '/ciIds/1', code: 'unknown_item' },
        { path: '/ciIds/2', code: 'unknown_item' },
        { path: '/classes/2', code: 'unknown_class' },
      ],
    }
    expect((await api.post(path, { ...body, ...covering })).error()).toMatchObject(refused)
    const { id } = await setUp(api, { ciIds: [known], classes: ['server', 'printer'] })
    expect((await api.patch(`${path}/${id}`, covering)).error()).toMatchObject(refused)
    expect((await api.patch(`${path}/${newId('changeWindow')}`, covering)).error().code).toBe('not_found')

    const elsewhere = service.as(testPrincipal())
    for (const theirs of [{ ciIds: [known] }, { classes: ['printer'] }])
      expect((await elsewhere.post(path, { ...body, ...theirs })).error().code).toBe('validation_failed')
  })

  it('can keep an item that was deleted later', async () => {
    const api = service.as(testPrincipal())
    const [gone, known] = [await item(api), await item(api)]
    const { id } = await setUp(api, { ciIds: [gone] })
    expect((await api.send('DELETE', `/cmdb/items/${gone}`)).status).toBe(204)
    const changed = (await api.patch(`${path}/${id}`, { ciIds: [gone, known] })).data(ChangeWindow)
    expect(changed.ciIds).toEqual([gone, known])
    expect(
      (await api.patch(`${path}/${(await setUp(api)).id}`, { ciIds: [gone] })).error().details,
    ).toMatchObject([{ path: '/ciIds/0', code: 'unknown_item' }])
  })

  it('requires itsm:manage, and belongs to one workspace', async () => {
    const reader = service.as(testPrincipal({ permissions: ['itsm:read', 'itsm:write'] }))
    expect((await reader.post(path, { name: 'Freeze', kind: 'blackout', span })).error().code).toBe(
      'insufficient_scope',
    )
    const { id } = await setUp(service.as(testPrincipal()))
    expect((await reader.get(`${path}/${id}`)).error().code).toBe('not_found')
  })
})

describe('the list of change windows', () => {
  let api: ApiClient
  let [server, database] = ['', '']
  beforeAll(async () => {
    api = service.as(testPrincipal())
    server = await item(api)
    database = await item(api, 'database')
    await setUp(api, { name: 'all' })
    await setUp(api, { name: 'server', ciIds: [server], status: 'inactive' })
    await setUp(api, { name: 'databases', classes: ['database'], kind: 'maintenance' })
    await setUp(api, { name: 'nights', span: null, recurrence: { ...night, validFrom: '2027-02-01' } })
  })

  test.each<[string, () => Record<string, string>, string[]]>([
    ['everything', () => ({}), ['all', 'server', 'databases', 'nights']],
    ['a kind', () => ({ kind: 'maintenance' }), ['databases']],
    ['a status', () => ({ status: 'inactive' }), ['server']],
    ['an item', () => ({ ciId: server }), ['all', 'server', 'nights']],
    ['an item by its class', () => ({ ciId: database }), ['all', 'databases', 'nights']],
    ['a time on', () => ({ from: '2027-01-03T00:00:00Z' }), ['nights']],
    ['a time until', () => ({ to: '2027-02-01T00:00:00Z' }), ['all', 'server', 'databases']],
    [
      'a time',
      () => ({ from: '2026-12-31T00:00:00Z', to: '2026-12-31T01:00:00Z', kind: 'blackout' }),
      ['all', 'server'],
    ],
  ])('filters by %s', async (_, query, expected) => {
    const names: string[] = []
    let after: string | null = null
    do {
      const parameters: string = new URLSearchParams({
        ...query(),
        sort: 'createdAt',
        limit: '2',
        ...(after !== null && { after }),
      }).toString()
      const page = (await api.get(`${path}?${parameters}`)).page(ChangeWindow)
      names.push(...page.items.map(({ name }) => name))
      after = page.pagination.nextCursor
    } while (after !== null)
    expect(names).toEqual(expected)
  })
})
