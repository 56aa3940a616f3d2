import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { ChangeTemplate, changeTemplateEvents } from '@opsplane/contracts'
import {
  type ApiClient,
  type EventRecorder,
  recordEvents,
  type SharedService,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import { joinItsm } from '../../joined.fixture.js'

let service: SharedService
let recorder: EventRecorder
let api: ApiClient
const principal = testPrincipal()
const path = '/itsm/change-templates'
const plans = { implementationPlan: 'Swap it.', backoutPlan: 'Swap it back.' }

beforeAll(async () => {
  service = await joinItsm()
  recorder = await recordEvents(service.natsPrefix)
  api = service.as(principal)
})
afterAll(async () => {
  await recorder?.stop()
  await service?.stop()
})

const add = async (fields: object = {}): Promise<ChangeTemplate> =>
  (await api.post(path, { name: 'Swap a disk', ...plans, ...fields })).data(ChangeTemplate)

it('creates, changes and deletes a template with an event for each, and rejects a stale If-Match', async () => {
  const template = await add({ ciClasses: ['database', 'storage', 'database'], maxDurationMinutes: 240 })
  expect(template).toMatchObject({
    ...{ status: 'active', impact: 'low', ciClasses: ['database', 'storage'], version: 1, ...plans },
  })
  const one = `${path}/${template.id}`
  expect((await api.get(one)).data(ChangeTemplate)).toEqual(template)
  const patched = await api.patch(one, { status: 'inactive' }, { 'if-match': '"1"' })
  expect(patched.data(ChangeTemplate)).toMatchObject({ status: 'inactive', version: 2 })
  expect((await api.patch(one, { testPlan: 'Look.' }, { 'if-match': '"1"' })).status).toBe(412)
  expect((await api.send('DELETE', one)).status).toBe(204)
  for (const status of [
    (await api.get(one)).status,
    (await api.patch(one, {})).status,
    (await api.send('DELETE', one)).status,
  ])
    expect(status).toBe(404)
  const events = await waitFor(() => {
    const own = recorder.published.filter(({ event }) => event.resource.id === template.id)
    return own.length >= 3 && own.map(({ event }) => event)
  })
  expect(events.map(({ type }) => type)).toEqual(Object.keys(changeTemplateEvents))
})

it('reports every class that is unknown in the workspace and environment', async () => {
  const named = `rack_${principal.userId.slice(-6).toLowerCase()}`
  const unknown = async (client: ApiClient, ciClasses: string[]) =>
    (await client.post(path, { name: 'T', ...plans, ciClasses })).error()
  const missing = await unknown(api, ['server', named, 'toString', 'tstring'])
  expect(missing.details.map(({ code, path: place }) => [code, place])).toEqual([
    ['invalid_format', '/ciClasses/2'],
  ])
  expect((await unknown(api, ['server', named, 'constructor'])).details).toMatchObject([
    { code: 'unknown_class', path: '/ciClasses/1' },
    { code: 'unknown_class', path: '/ciClasses/2' },
  ])
  expect((await api.post('/cmdb/classes', { name: named, label: 'Rack' })).status).toBe(201)
  const template = await add({ ciClasses: ['server', named] })
  expect(template.ciClasses).toEqual(['server', named])
  const staging = service.as({ ...principal, environment: 'staging' })
  for (const other of [staging, service.as(testPrincipal())])
    expect((await unknown(other, [named])).details).toMatchObject([{ path: '/ciClasses/0' }])
  const one = `${path}/${template.id}`
  const refused = await api.patch(one, { ciClasses: ['server', 'nothing'] })
  expect(refused.error().details).toMatchObject([{ code: 'unknown_class', path: '/ciClasses/1' }])
  expect((await api.patch(one, { ciClasses: null })).data(ChangeTemplate).ciClasses).toBeNull()
})

it('requires a name, an implementation plan and a backout plan', async () => {
  const { details } = (await api.post(path, {})).error()
  expect(details.map(({ path: place, code }) => [place, code])).toEqual([
    ['/name', 'required'],
    ['/implementationPlan', 'required'],
    ['/backoutPlan', 'required'],
  ])
})

it('requires itsm:read to read and itsm:manage to change a template, within its workspace and environment', async () => {
  const { id } = await add()
  const agent = service.as({ ...principal, permissions: ['itsm:read', 'itsm:write', 'itsm:approve'] })
  expect((await agent.get(`${path}/${id}`)).status).toBe(200)
  for (const refused of [
    await agent.post(path, { name: 'Mine', ...plans }),
    await agent.patch(`${path}/${id}`, { name: 'Mine' }),
    await agent.send('DELETE', `${path}/${id}`),
  ])
    expect(refused.error().code).toBe('insufficient_scope')
  for (const who of [testPrincipal(), testPrincipal({ ...principal, environment: 'staging' })]) {
    const stranger = service.as(who)
    expect((await stranger.get(`${path}/${id}`)).status).toBe(404)
    expect((await stranger.patch(`${path}/${id}`, { name: 'Mine' })).status).toBe(404)
    expect((await stranger.send('DELETE', `${path}/${id}`)).status).toBe(404)
    expect((await stranger.get(path)).page(ChangeTemplate).items).toEqual([])
  }
})
