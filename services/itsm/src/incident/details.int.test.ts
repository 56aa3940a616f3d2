import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  Change,
  defaultPriorityMatrix,
  Incident,
  IncidentComment,
  newId,
  type Principal,
  Problem,
} from '@opsplane/contracts'
import { type SharedService, testPrincipal } from '@opsplane/testing'
import { joinItsm } from '../joined.fixture.js'

let service: SharedService
const path = '/itsm/incidents'

beforeAll(async () => {
  service = await joinItsm()
})
afterAll(() => service?.stop())

function settings(overrides: Partial<Principal> = {}) {
  const principal = testPrincipal(overrides)
  const api = service.as(principal)
  const open = async (fields: object = {}) =>
    (await api.post(path, { title: 'Checkout answers 502', ...fields })).data(Incident)
  const patch = (id: string, body: object) => api.patch(`${path}/${id}`, body)
  return { principal, api, open, patch }
}

describe('the priority of an incident', () => {
  it('is derived from impact and urgency, and not changed by a later change of the matrix', async () => {
    const { api, open, patch } = settings()
    const first = await open({ impact: 'high' })
    expect(first).toMatchObject({ impact: 'high', urgency: 'medium', priority: 'P2' })
    const { medium } = defaultPriorityMatrix
    await api.patch('/itsm/settings', { priorityMatrix: { high: medium, medium, low: medium } })
    expect((await api.get(`${path}/${first.id}`)).data(Incident)).toEqual(first)
    expect(await open({ impact: 'high' })).toMatchObject({ priority: 'P3' })
    expect((await patch(first.id, { urgency: 'low' })).data(Incident).priority).toBe('P4')
  })

  it.each([
    ['critical', 'P1'],
    ['high', 'P2'],
    ['medium', 'P3'],
    ['low', 'P4'],
  ])('is derived from severity %s if only that is given', async (severity, priority) => {
    expect(await settings().open({ severity })).toMatchObject({ severity, priority })
  })

  it('is derived from impact and urgency, if given, rather than from the severity', async () => {
    const { open } = settings()
    expect(await open({ severity: 'critical', impact: 'low', urgency: 'low' })).toMatchObject({
      priority: 'P5',
    })
    expect(await open({ severity: 'critical', impact: 'low' })).toMatchObject({
      ...{ impact: 'low', urgency: 'high', priority: 'P3' },
    })
  })

  it('can be overridden with a reason, and is derived again when the override is removed', async () => {
    const { principal, open, patch } = settings()
    const { id } = await open()
    const override = { priority: 'P1', reason: 'The board looks at it.' }
    const overridden = (await patch(id, { priorityOverride: override })).data(Incident)
    expect(overridden).toMatchObject({
      priority: 'P1',
      priorityOverride: { ...override, by: principal.actor, at: overridden.updatedAt },
    })
    expect((await patch(id, { impact: 'low' })).data(Incident).priority).toBe('P1')
    const lifted = (await patch(id, { priorityOverride: null })).data(Incident)
    expect(lifted).toMatchObject({ priority: 'P4', priorityOverride: null })
  })

  it('cannot be set directly', async () => {
    const { api, open, patch } = settings()
    const { id } = await open()
    for (const [reply, field] of [
      [await api.post(path, { title: 'x', priority: 'P1' }), '/priority'],
      [await patch(id, { priority: 'P1' }), '/priority'],
      [await patch(id, { priorityOverride: { priority: 'P1' } }), '/priorityOverride/reason'],
      [await patch(id, { impact: 'huge' }), '/impact'],
    ] as const) {
      expect(reply.error().details[0]?.path).toBe(field)
    }
  })
})

describe('watchers of an incident', () => {
  it('can be named, and can add and remove themselves', async () => {
    const { api, principal, open, patch } = settings()
    const { id, watcherIds } = await open({ watcherIds: ['usr_a', 'usr_b', 'usr_a'] })
    expect(watcherIds).toEqual(['usr_a', 'usr_b'])
    const act = async (action: string) => (await api.post(`${path}/${id}/${action}`)).data(Incident)
    expect((await act('watch')).watcherIds).toEqual(['usr_a', 'usr_b', principal.userId])
    expect(await act('watch')).toMatchObject({ version: 2 })
    expect((await act('unwatch')).watcherIds).toEqual(['usr_a', 'usr_b'])
    expect((await patch(id, { watcherIds: ['usr_c'] })).data(Incident).watcherIds).toEqual(['usr_c'])
    const crowd = Array.from({ length: 101 }, (_, at) => `usr_${at}`)
    expect((await patch(id, { watcherIds: crowd })).error().details[0]?.path).toBe('/watcherIds')
  })

  it('are all added when they start to watch concurrently', async () => {
    const { principal, open, api } = settings()
    const { id } = await open()
    const users = Array.from({ length: 20 }, () => newId('user'))
    await Promise.all(users.map((userId) => service.as({ ...principal, userId }).post(`${path}/${id}/watch`)))
    const { watcherIds } = (await api.get(`${path}/${id}`)).data(Incident)
    expect(watcherIds.toSorted()).toEqual(users.toSorted())
  })
})

it('putting an incident on hold for its caller requires a comment', async () => {
  const { api, open, patch } = settings()
  const { id } = await open()
  const hold = { status: 'on_hold', holdReason: 'awaiting_caller' }
  expect((await patch(id, hold)).error().details[0]?.path).toBe('/comment')
  const held = (await patch(id, { ...hold, comment: 'Which browser is it?' })).data(Incident)
  expect(held).toMatchObject({ ...hold, commentCount: 1, version: 3 })
  const { items } = (await api.get(`${path}/${id}/comments`)).page(IncidentComment)
  expect(items).toMatchObject([{ body: 'Which browser is it?', visibility: 'public' }])
  const events = await service.sql`select type from events where stream_id = ${id} order by version`
  expect(events.map(({ type }) => type)).toEqual([
    'incident.created',
    'incident.comment_added',
    'incident.updated',
  ])
})

it('resolving requires a code and notes if the settings demand them', async () => {
  const { api, open, patch } = settings()
  const { id } = await open()
  await api.patch('/itsm/settings', { resolutionRequired: true })
  const resolve = (body?: object) => api.post(`${path}/${id}/resolve`, body)
  expect((await resolve()).error().details[0]?.path).toBe('/resolutionCode')
  expect((await resolve({ resolutionCode: 'fixed' })).error().details[0]?.path).toBe('/resolutionNotes')
  expect((await patch(id, { status: 'resolved' })).error().details[0]?.path).toBe('/resolutionCode')
  expect((await resolve({ resolutionCode: 'fixed', resolutionNotes: 'Done.' })).status).toBe(200)
})

it('accepts only existing problems and changes as links', async () => {
  const { open, patch, api } = settings()
  const change = async (as = api) => (await as.post('/itsm/changes', { title: 'Patch' })).data(Change).id
  const problem = async (as = api) => (await as.post('/itsm/problems', { title: 'Leak' })).data(Problem).id
  const links = { problemId: await problem(), changeId: await change(), causedByChangeId: await change() }
  const foreign = {
    problemId: await problem(settings().api),
    changeId: await change(settings().api),
    causedByChangeId: newId('change'),
  }
  const { id, ...incident } = await open(links)
  expect(incident).toMatchObject(links)
  expect((await patch(id, { changeId: null })).data(Incident)).toMatchObject({ ...links, changeId: null })
  const wrongs = Object.entries(foreign).flatMap(([field, id]) => [
    { field, wrong: { [field]: newId('incident') } },
    { field, wrong: { [field]: id } },
  ])
  for (const { field, wrong } of wrongs) {
    expect((await api.post(path, { title: 'x', ...wrong })).error().details[0]?.path).toBe(`/${field}`)
    expect((await patch(id, wrong)).error().details[0]?.path).toBe(`/${field}`)
  }
})

describe('the channel of an incident', () => {
  it('is the given one, "monitoring" by default for alerts, and can be corrected', async () => {
    const { open, patch } = settings()
    expect((await open()).channel).toBeNull()
    expect((await open({ channel: 'phone' })).channel).toBe('phone')
    expect((await open({ dedupKey: 'disk-full' })).channel).toBe('monitoring')
    const { id, version } = await open({ dedupKey: 'disk-slow', channel: 'api' })
    expect((await patch(id, { channel: 'email' })).data(Incident)).toMatchObject({
      ...{ channel: 'email', version: version + 1 },
    })
    expect((await patch(id, { channel: null })).data(Incident).channel).toBeNull()
    expect((await patch(id, { channel: 'fax' })).error().details[0]?.path).toBe('/channel')
  })
})
