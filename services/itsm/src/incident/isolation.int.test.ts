import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Incident, IncidentComment, newId } from '@opsplane/contracts'
import { type ApiClient, startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { itsm } from '../service.js'

let service: TestService
let api: ApiClient
let incident: Incident
const principal = testPrincipal()

beforeAll(async () => {
  service = await startTestService(itsm)
  api = service.as(principal)
  incident = (await api.post('/itsm/incidents', { title: 'Checkout answers 502' })).data(Incident)
  await api.post(`/itsm/incidents/${incident.id}/comments`, { body: 'Looking at it.' })
})
afterAll(() => service?.stop())

const withoutRequestId = (text: string) => text.replace(/"requestId":"[^"]*"/, '')

describe('another tenant', () => {
  const operations: [string, string, string, object | undefined][] = [
    ['reading', 'GET', '', undefined],
    ['patching', 'PATCH', '', { title: 'Mine now' }],
    ['resolving', 'POST', '/resolve', {}],
    ['escalating', 'POST', '/escalate', {}],
    ['closing', 'POST', '/close', {}],
    ['reopening', 'POST', '/reopen', {}],
    ['watching', 'POST', '/watch', {}],
    ['ceasing to watch', 'POST', '/unwatch', {}],
    ['commenting', 'POST', '/comments', { body: 'Hello' }],
    ['proposing as major', 'POST', '/major/propose', {}],
    ['accepting as major', 'POST', '/major/accept', {}],
    ['listing comments', 'GET', '/comments', undefined],
  ]

  it.each(operations)('receives the response of an unknown id: %s', async (_, method, path, body) => {
    const send = (client: ApiClient, reference: string) =>
      client.send(method, `/itsm/incidents/${reference}${path}`, body ? { body } : {})
    const absent = await send(api, newId('incident'))
    expect(absent.error().code).toBe('not_found')

    const elsewhere = service.as(testPrincipal())
    const staging = service.as({ ...principal, environment: 'staging' })
    const replies = await Promise.all([
      send(elsewhere, incident.id),
      send(elsewhere, incident.number),
      send(staging, incident.id),
      send(staging, incident.number),
      send(api, 'not-an-id'),
      send(api, 'INC-999999999'),
    ])
    for (const reply of replies) {
      expect(reply.status).toBe(absent.status)
      expect(withoutRequestId(reply.text)).toBe(withoutRequestId(absent.text))
    }
  })

  it('leaves the incident unchanged', async () => {
    const { title, version } = (await api.get(`/itsm/incidents/${incident.id}`)).data(Incident)
    expect([title, version]).toEqual(['Checkout answers 502', 2])
  })

  it('finds no incident of others in the list', async () => {
    const elsewhere = service.as(testPrincipal())
    const staging = service.as({ ...principal, environment: 'staging' })
    for (const client of [elsewhere, staging]) {
      expect((await client.get('/itsm/incidents')).page(Incident).items).toEqual([])
    }
  })
})

describe('permissions for incidents', () => {
  it('of reading do not allow writing', async () => {
    const reader = service.as({ ...principal, permissions: ['itsm:read'] })
    expect((await reader.get(`/itsm/incidents/${incident.id}`)).status).toBe(200)
    expect((await reader.post('/itsm/incidents', { title: 'No' })).error().code).toBe('insufficient_scope')
    expect((await reader.post(`/itsm/incidents/${incident.id}/resolve`)).error().code).toBe(
      'insufficient_scope',
    )
  })

  it('of another API allow nothing', async () => {
    const stranger = service.as({ ...principal, permissions: ['webhooks:read', 'webhooks:write'] })
    expect((await stranger.get('/itsm/incidents')).error().code).toBe('insufficient_scope')
  })
})

it('restores identical rows when its read models are rebuilt from the log', async () => {
  for (let index = 0; index < 5; index++) {
    const { id } = (
      await api.post('/itsm/incidents', { title: `Number ${index}`, assigneeId: 'usr_ada' })
    ).data(Incident)
    await api.post(`/itsm/incidents/${id}/comments`, { body: 'First', visibility: 'internal' })
    await api.patch(`/itsm/incidents/${id}`, { severity: 'critical', tags: ['a'] })
    if (index % 2 === 0) await api.post(`/itsm/incidents/${id}/resolve`, { resolutionCode: 'fixed' })
  }
  const rows = async () => [
    await service.sql`select * from incidents order by id`,
    await service.sql`select * from incident_comments order by id`,
  ]
  const before = await rows()
  expect(before.map((table) => table.length)).toEqual([6, 6])

  await service.sql`update incidents set state = (state::jsonb || '{"title":"Tampered with"}')::json`
  await service.sql`delete from incident_comments`
  await service.rebuild()

  expect(await rows()).toEqual(before)
  const { items } = (await api.get(`/itsm/incidents/${incident.id}/comments`)).page(IncidentComment)
  expect(items.map(({ body }) => body)).toEqual(['Looking at it.'])
})
