import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Change, Incident, newId, Problem } from '@opsplane/contracts'
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
  '%s takes members for assignees and nobody else',
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

it('names a caller who is unknown beside an unknown assignee', async () => {
  const api = service.as(testPrincipal())
  const unknown = { assigneeId: newId('user'), callerId: newId('user') }
  expect(refusedAt(await api.post('/itsm/incidents', { title: 'Disk full', ...unknown }))).toEqual([
    422,
    ['/assigneeId unknown_user', '/callerId unknown_user'],
  ])
  expect((await api.post('/itsm/incidents', { title: 'Disk full', callerId: member() })).status).toBe(201)
})

it('leaves whoever has left in their place', async () => {
  const api = service.as(testPrincipal())
  const ada = newId('user')
  available = false
  const made = await api.post('/itsm/incidents', { title: 'Disk full', callerId: ada })
  available = true
  const { id } = made.data(Incident)
  const patched = await api.patch(`/itsm/incidents/${id}`, { callerId: ada, title: 'Disks full' })
  expect(patched.data(Incident)).toMatchObject({ callerId: ada, title: 'Disks full' })
})

it('goes on while settings is away', async () => {
  const api = service.as(testPrincipal())
  available = false
  const { status } = await api.post('/itsm/incidents', { title: 'Disk full', assigneeId: newId('user') })
  available = true
  expect(status).toBe(201)
})
