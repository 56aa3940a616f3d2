import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { CatalogItem, CatalogRequest, Change, Incident, newId, Problem, SlaPolicy } from '@opsplane/contracts'
import {
  type ApiReply,
  type Receiver,
  startReceiver,
  startTestService,
  type TestService,
  testPrincipal,
} from '@opsplane/testing'
import { itsm } from './service.js'

let settings: Receiver
let service: TestService
/** The members of every workspace. */
const members = new Set<string>()
let available = true

beforeAll(async () => {
  settings = await startReceiver({
    tls: false,
    respond: ({ rawBody }) => {
      if (!available) return { status: 503, body: '{}' }
      const { userIds } = JSON.parse(rawBody.toString('utf8')) as { userIds: string[] }
      const data = { userIds: userIds.filter((id) => members.has(id)) }
      return { status: 200, body: JSON.stringify({ data }) }
    },
  })
  const urls = JSON.stringify({ settings: settings.url })
  service = await startTestService(itsm, { env: { SERVICE_URLS: urls } })
})
afterAll(async () => {
  await service?.stop()
  await settings?.stop()
})

const member = () => {
  const id = newId('user')
  members.add(id)
  return id
}
const refusedAt = (reply: ApiReply) => {
  const { status, details } = reply.error()
  return [status, details.map(({ path, code }) => `${path} ${code}`)]
}

it.each(['/itsm/incidents', '/itsm/changes', '/itsm/problems'])(
  '%s accepts only members as assignees',
  async (path) => {
    const api = service.as(testPrincipal())
    const ada = member()
    const kind = { '/itsm/incidents': Incident, '/itsm/changes': Change, '/itsm/problems': Problem }[path]
    const fields = { title: 'Disk full', ...(path === '/itsm/changes' && { type: 'normal' }) }
    const refused = [422, ['/assigneeId unknown_user']]
    expect(refusedAt(await api.post(path, { ...fields, assigneeId: newId('user') }))).toEqual(refused)
    const { id, assigneeId } = (await api.post(path, { ...fields, assigneeId: ada })).data(kind ?? Incident)
    expect(assigneeId).toBe(ada)
    expect(refusedAt(await api.patch(`${path}/${id}`, { assigneeId: newId('user') }))).toEqual(refused)
    expect((await api.patch(`${path}/${id}`, { assigneeId: null })).status).toBe(200)
  },
)

it('reports the paths of an unknown caller and an unknown assignee', async () => {
  const api = service.as(testPrincipal())
  const unknown = { assigneeId: newId('user'), callerId: newId('user') }
  expect(refusedAt(await api.post('/itsm/incidents', { title: 'Disk full', ...unknown }))).toEqual([
    422,
    ['/assigneeId unknown_user', '/callerId unknown_user'],
  ])
  expect((await api.post('/itsm/incidents', { title: 'Disk full', callerId: member() })).status).toBe(201)
})

it('rejects watchers and escalations to people who are not members', async () => {
  const api = service.as(testPrincipal())
  const [ada, unknown] = [member(), newId('user')]
  const watched = { title: 'Disk full', watcherIds: [ada, unknown] }
  const refused = [422, ['/watcherIds/1 unknown_user']]
  expect(refusedAt(await api.post('/itsm/incidents', watched))).toEqual(refused)
  const { id } = (await api.post('/itsm/incidents', { title: 'Disk full', watcherIds: [ada] })).data(Incident)
  expect(refusedAt(await api.patch(`/itsm/incidents/${id}`, watched))).toEqual(refused)
  const escalating = (escalateTo: string) => api.post(`/itsm/incidents/${id}/escalate`, { escalateTo })
  expect(refusedAt(await escalating(unknown))).toEqual([422, ['/escalateTo unknown_user']])
  expect((await escalating(member())).data(Incident).watcherIds).toHaveLength(2)
})

it('accepts only members in the escalation rules of SLA policies', async () => {
  const api = service.as(testPrincipal())
  const policy = { name: 'Gold', metric: 'resolution', goalsBy: 'all', goals: { all: 60 } }
  const rules = (escalateTo: string) => [
    { atPercent: 100, severity: 'high' },
    { atPercent: 100, escalateTo },
  ]
  const refused = [422, ['/escalations/1/escalateTo unknown_user']]
  const create = (escalateTo: string) =>
    api.post('/itsm/sla-policies', { ...policy, escalations: rules(escalateTo) })
  expect(refusedAt(await create(newId('user')))).toEqual(refused)
  const ada = member()
  const { id } = (await create(ada)).data(SlaPolicy)
  const patch = (escalations: object[]) => api.patch(`/itsm/sla-policies/${id}`, { escalations })
  expect(refusedAt(await patch(rules(newId('user'))))).toEqual(refused)
  members.delete(ada)
  expect((await patch(rules(ada).reverse())).status).toBe(200)
})

it('accepts only members as assignees of catalog tasks', async () => {
  const api = service.as(testPrincipal())
  const item = (assigneeId: string) => ({
    name: 'Laptop',
    tasks: [
      { key: 'order', name: 'Order it' },
      { key: 'deliver', name: 'Deliver it', dependsOn: ['order'], assigneeId },
    ],
  })
  const refused = [422, ['/tasks/1/assigneeId unknown_user']]
  expect(refusedAt(await api.post('/catalog/items', item(newId('user'))))).toEqual(refused)
  const { id } = (await api.post('/catalog/items', item(member()))).data(CatalogItem)
  expect(refusedAt(await api.patch(`/catalog/items/${id}`, item(newId('user'))))).toEqual(refused)
  await api.post(`/catalog/items/${id}/activate`, {})
  const request = (await api.post('/catalog/requests', { itemId: id })).data(CatalogRequest)
  const task = `/catalog/requests/${request.id}/tasks/${request.tasks[0]?.id}`
  expect(refusedAt(await api.patch(task, { assigneeId: newId('user') }))).toEqual([
    422,
    ['/assigneeId unknown_user'],
  ])
  expect((await api.patch(task, { assigneeId: member() })).status).toBe(200)
})

it('accepts a former member in a field that contains them already', async () => {
  const api = service.as(testPrincipal())
  const ada = newId('user')
  available = false
  const made = await api.post('/itsm/incidents', { title: 'Disk full', callerId: ada })
  available = true
  const { id } = made.data(Incident)
  const patched = await api.patch(`/itsm/incidents/${id}`, { callerId: ada, title: 'Disks full' })
  expect(patched.data(Incident)).toMatchObject({ callerId: ada, title: 'Disks full' })
})

it('accepts people unchecked while the settings service is unavailable', async () => {
  const api = service.as(testPrincipal())
  available = false
  const { status } = await api.post('/itsm/incidents', { title: 'Disk full', assigneeId: newId('user') })
  available = true
  expect(status).toBe(201)
})
