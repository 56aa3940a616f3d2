import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Change, ConfigurationItem, Incident, newId, Problem, problemEvents } from '@opsplane/contracts'
import {
  type ApiClient,
  type EventRecorder,
  recordEvents,
  startTestService,
  type TestService,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import { itsm } from '../service.js'

let service: TestService
let recorder: EventRecorder
let api: ApiClient
const principal = testPrincipal()

beforeAll(async () => {
  service = await startTestService(itsm)
  recorder = await recordEvents(service.natsPrefix)
  api = service.as(principal)
})
afterAll(async () => {
  await recorder?.stop()
  await service?.stop()
})

const record = async (fields: object = {}): Promise<Problem> =>
  (await api.post('/itsm/problems', { title: 'Connections leak', ...fields })).data(Problem)
const act = async ({ id }: Problem, action: string, body?: object): Promise<Problem> =>
  (await api.post(`/itsm/problems/${id}/${action}`, body)).data(Problem)
const open = async (fields: object = {}): Promise<Incident> =>
  (await api.post('/itsm/incidents', { title: 'Checkout answers 502', ...fields })).data(Incident)
const item = async (): Promise<ConfigurationItem> =>
  (await api.post('/cmdb/items', { class: 'server', name: 'db-1', status: 'operational' })).data(
    ConfigurationItem,
  )

describe('the lifecycle of a problem', () => {
  it('is reported by one event per step, as declared', async () => {
    const created = await api.post('/itsm/problems', { title: ' Connections leak ', impact: 'high' })
    expect(created.status).toBe(201)
    const problem = created.data(Problem)
    expect(created.headers.get('location')).toContain(`/itsm/problems/${problem.id}`)
    expect(problem).toMatchObject({
      title: 'Connections leak',
      status: 'new',
      priority: 'P2',
      createdBy: principal.actor,
      version: 1,
      allowedActions: ['edit', 'assess', 'publish_workaround', 'mark_known_error', 'unmark_known_error'],
    })
    await act(problem, 'assess')
    await act(problem, 'analyze')
    await api.patch(`/itsm/problems/${problem.number}`, { rootCause: 'The pool keeps broken connections.' })
    await act(problem, 'publish-workaround', { workaround: 'Restart every hour.' })
    const known = await act(problem, 'mark-known-error')
    expect(known).toMatchObject({ knownError: true, knownErrorAt: expect.any(String) })
    await act(problem, 'unmark-known-error')
    await act(problem, 'fix')
    await act(problem, 'resolve', { resolution: 'fix_applied', resolutionNotes: 'They are returned.' })
    await act(problem, 'close')
    const reopened = await act(problem, 'reopen', { reason: 'It leaks again.' })
    expect(reopened).toMatchObject({
      status: 'root_cause_analysis',
      resolution: null,
      resolvedAt: null,
      reopenCount: 1,
    })

    const published = await waitFor(() => {
      const events = recorder.published.filter(({ event }) => event.resource.id === problem.id)
      return events.length >= 11 && events.map(({ event }) => event)
    })
    expect(published.map(({ type }) => type)).toEqual([
      'problem.created',
      'problem.updated',
      'problem.updated',
      'problem.updated',
      'problem.workaround_published',
      'problem.known_error',
      'problem.updated',
      'problem.updated',
      'problem.resolved',
      'problem.closed',
      'problem.reopened',
    ])
    for (const { type, data, resource } of published) {
      expect(resource).toMatchObject({ type: 'problem', number: problem.number, displayName: problem.title })
      const schema = Object.entries(problemEvents).find(([name]) => name === type)?.[1].data
      expect(schema?.parse(data)).toEqual(data)
    }
  })

  it('is readable as of a past instant', async () => {
    const problem = await record()
    const later = await act(problem, 'assess')
    const read = async (asOf: string) => api.get(`/itsm/problems/${problem.number}?asOf=${asOf}`)
    expect((await read(later.updatedAt)).data(Problem)).toEqual(later)
    const before = new Date(Date.parse(problem.createdAt) - 1).toISOString()
    expect((await read(before)).error().code).toBe('not_found')
  })

  it('rejects actions the status does not allow, and the error lists the allowed ones', async () => {
    const problem = await record()
    const reply = await api.post(`/itsm/problems/${problem.id}/fix`)
    expect(reply.status).toBe(409)
    expect(reply.error()).toMatchObject({
      code: 'invalid_state_transition',
      details: [{ params: { from: 'new', action: 'fix', allowed: problem.allowedActions } }],
    })
  })

  it('rejects actions with a stale If-Match', async () => {
    const problem = await record()
    await act(problem, 'assess')
    const send = (path: string, body: object) =>
      api.post(`/itsm/problems/${problem.id}${path}`, body, { 'if-match': '"1"' })
    expect((await send('/analyze', {})).error().code).toBe('precondition_failed')
    expect((await send('/close', { resolution: 'canceled' })).error().code).toBe('precondition_failed')
  })
})

describe('a duplicate problem', () => {
  const close = async (duplicateOf: string, problem?: Problem) => {
    const { id } = await act(problem ?? (await record()), 'assess')
    return api.post(`/itsm/problems/${id}/close`, { resolution: 'duplicate', duplicateOf })
  }

  it('references the original by id or number', async () => {
    const original = await record()
    for (const reference of [original.id, original.number])
      expect((await close(reference)).data(Problem).duplicateOf).toBe(original.id)
  })

  it('never references its own duplicate, also if both are closed concurrently', async () => {
    for (let round = 0; round < 5; round++) {
      const [one, other] = [await act(await record(), 'assess'), await act(await record(), 'assess')]
      const closing = ({ id }: Problem, duplicateOf: string) =>
        api.post(`/itsm/problems/${id}/close`, { resolution: 'duplicate', duplicateOf })
      const replies = await Promise.all([closing(one, other.id), closing(other, one.id)])
      expect(replies.map(({ status }) => status).sort()).toEqual([200, 422])
    }
  })

  it('is closed once per Idempotency-Key, and not with a stale If-Match', async () => {
    const [original, { id }] = [await record(), await act(await record(), 'assess')]
    const closing = (headers: Record<string, string>) =>
      api.post(`/itsm/problems/${id}/close`, { resolution: 'duplicate', duplicateOf: original.id }, headers)
    expect((await closing({ 'if-match': '"1"' })).error().code).toBe('precondition_failed')
    const key = { 'idempotency-key': newId('event') }
    const replies = [await closing(key), await closing(key)]
    expect(replies.map((reply) => reply.data(Problem).version)).toEqual([3, 3])
    expect((await closing({})).error().code).toBe('invalid_state_transition')
  })

  it('cannot reference itself, another duplicate or an unknown problem', async () => {
    const itself = await record()
    const duplicate = (await close((await record()).id)).data(Problem)
    const elsewhere = service.as(testPrincipal())
    const other = (await elsewhere.post('/itsm/problems', { title: 'Theirs' })).data(Problem)
    const replies = [
      await close(itself.number, itself),
      await close(duplicate.id),
      await close(other.id),
      await close('PRB-999999'),
    ]
    expect(replies.map((reply) => reply.error().details[0])).toMatchObject([
      { path: '/duplicateOf', code: 'same_problem' },
      { path: '/duplicateOf', code: 'duplicate' },
      { path: '/duplicateOf', code: 'unknown_problem' },
      { path: '/duplicateOf', code: 'unknown_problem' },
    ])
  })
})

describe('references of a problem', () => {
  it('must be existing items that are not retired, and faults are reported with their paths', async () => {
    const [good, retired] = [await item(), await item()]
    await api.post(`/cmdb/items/${retired.id}/retire`)
    const wrong = async (ciIds: string[]) =>
      (await api.post('/itsm/problems', { title: 'T', ciIds })).error().details
    expect(await wrong([good.id, good.id, retired.id])).toMatchObject([{ path: '/ciIds/2', code: 'retired' }])
    expect(await wrong([newId('ci')])).toMatchObject([{ path: '/ciIds/0', code: 'unknown_item' }])
    const elsewhere = service.as(testPrincipal())
    const reply = await elsewhere.post('/itsm/problems', { title: 'T', ciIds: [good.id] })
    expect(reply.error().details).toMatchObject([{ path: '/ciIds/0', code: 'unknown_item' }])
  })

  it('can keep an item that was retired later', async () => {
    const [old, fresh] = [await item(), await item()]
    const problem = await record({ ciIds: [old.id] })
    await api.post(`/cmdb/items/${old.id}/retire`)
    const reply = await api.patch(`/itsm/problems/${problem.id}`, { ciIds: [fresh.id, old.id] })
    expect(reply.data(Problem).ciIds).toEqual([fresh.id, old.id])
  })

  it('must be existing changes', async () => {
    const problem = await record()
    const reply = await api.patch(`/itsm/problems/${problem.id}`, { changeIds: [newId('change')] })
    expect(reply.status).toBe(422)
    expect(reply.error().details).toMatchObject([{ path: '/changeIds/0', code: 'unknown_change' }])

    const staging = service.as({ ...principal, environment: 'staging' })
    const change = async (as: ApiClient) =>
      (await as.post('/itsm/changes', { title: 'Patch it', type: 'normal' })).data(Change).id
    const name = (id: string) => api.patch(`/itsm/problems/${problem.id}`, { changeIds: [id, id] })
    const [foreign, own] = [await change(staging), await change(api)]
    expect((await name(foreign)).status).toBe(422)
    expect((await name(own)).data(Problem).changeIds).toEqual([own])
  })
})

describe('the incidents of a problem', () => {
  it('are linked, listed and unlinked', async () => {
    const problem = await record()
    const [first, second] = [await open(), await open()]
    await open()
    const path = `/itsm/problems/${problem.number}/incidents`
    const linked = (await api.post(path, { incidentId: first.number })).data(Incident)
    expect(linked).toMatchObject({ id: first.id, problemId: problem.id, version: 2 })
    expect((await api.post(path, { incidentId: first.id })).data(Incident).version).toBe(2)
    await api.post(path, { incidentId: second.id })

    const page = (await api.get(`${path}?limit=1`)).page(Incident)
    expect(page.items.map(({ id }) => id)).toEqual([second.id])
    const rest = await api.get(
      `${path}?limit=1&after=${encodeURIComponent(page.pagination.nextCursor ?? '')}`,
    )
    expect(rest.page(Incident).items.map(({ id }) => id)).toEqual([first.id])

    expect((await api.send('DELETE', `${path}/${first.number}`)).status).toBe(204)
    expect((await api.send('DELETE', `${path}/${first.number}`)).error().code).toBe('not_found')
    expect((await api.get(`/itsm/incidents/${first.id}`)).data(Incident).problemId).toBeNull()
    expect((await api.get(path)).page(Incident).items.map(({ id }) => id)).toEqual([second.id])
  })

  it('have at most one problem each, and cannot be linked after they ended', async () => {
    const [one, two] = [await record(), await record()]
    const incident = await open()
    await api.post(`/itsm/problems/${one.id}/incidents`, { incidentId: incident.id })
    const again = await api.post(`/itsm/problems/${two.id}/incidents`, { incidentId: incident.id })
    expect(again.error()).toMatchObject({
      code: 'conflict',
      details: [{ code: 'already_linked', params: { problemId: one.id } }],
    })
    const canceled = await open()
    await api.patch(`/itsm/incidents/${canceled.id}`, { status: 'canceled' })
    const late = await api.post(`/itsm/problems/${two.id}/incidents`, { incidentId: canceled.id })
    expect(late.error().code).toBe('invalid_state_transition')
    const absent = await api.post(`/itsm/problems/${two.id}/incidents`, { incidentId: 'INC-999999' })
    expect(absent.error().details).toMatchObject([{ path: '/incidentId', code: 'unknown_incident' }])
  })

  it('can be the origin of a new problem', async () => {
    const { id: ciId } = await item()
    const incident = await open({ description: 'Every few hours.', ciId })
    const path = `/itsm/incidents/${incident.number}/problem`
    const reply = await api.post(path)
    expect(reply.status).toBe(201)
    const problem = reply.data(Problem)
    expect(reply.headers.get('location')).toBe(`/itsm/problems/${problem.id}`)
    expect(problem).toMatchObject({
      title: incident.title,
      description: 'Every few hours.',
      ciIds: [ciId],
      priority: 'P3',
    })
    expect((await api.get(`/itsm/incidents/${incident.id}`)).data(Incident).problemId).toBe(problem.id)
    expect((await api.post(path)).error().code).toBe('conflict')
    expect((await api.post('/itsm/incidents/INC-999999/problem')).error().code).toBe('not_found')
  })

  it('that cannot be linked do not leave a new problem behind', async () => {
    const incident = await open()
    await api.patch(`/itsm/incidents/${incident.id}`, { status: 'canceled' })
    const count = async () => (await service.sql`select count(*)::int as n from problems`)[0]?.n
    const before = await count()
    const reply = await api.post(`/itsm/incidents/${incident.id}/problem`)
    expect(reply.error().code).toBe('invalid_state_transition')
    expect(await count()).toBe(before)
  })
})

describe('access to problems', () => {
  it('from another tenant receives the response of an unknown id', async () => {
    const problem = await record()
    const incident = await open()
    await api.post(`/itsm/problems/${problem.id}/incidents`, { incidentId: incident.id })
    const path = `/itsm/problems/${problem.id}`
    const requests: [string, string, object?][] = [
      ['GET', path],
      ['PATCH', path, { title: 'Mine', ciIds: [] }],
      ['POST', `${path}/assess`, {}],
      ['POST', `${path}/close`, { resolution: 'canceled' }],
      ['POST', `${path}/publish-workaround`, { workaround: 'Mine' }],
      ['GET', `${path}/incidents`],
      ['POST', `${path}/incidents`, { incidentId: incident.id }],
      ['DELETE', `${path}/incidents/${incident.id}`],
      ['POST', `/itsm/incidents/${incident.id}/problem`, {}],
    ]
    for (const client of [
      service.as(testPrincipal()),
      service.as({ ...principal, environment: 'staging' }),
    ]) {
      for (const [method, target, body] of requests) {
        const reply = await client.send(method, target, body ? { body } : {})
        expect([method, target, reply.status]).toEqual([method, target, 404])
      }
      expect((await client.get('/itsm/problems')).page(Problem).items).toEqual([])
    }
    expect((await api.get(path)).data(Problem)).toEqual(problem)
  })

  it('requires itsm:write to change a problem', async () => {
    const reader = service.as({ ...principal, permissions: ['itsm:read'] })
    const { id } = await record()
    expect((await reader.get(`/itsm/problems/${id}`)).status).toBe(200)
    expect((await reader.post(`/itsm/problems/${id}/assess`)).error().code).toBe('insufficient_scope')
  })
})

it('restores identical rows when its read model is rebuilt from the log', async () => {
  const rows = () => service.sql`select * from problems order by id`
  const before = await rows()
  expect(before.length).toBeGreaterThan(5)
  await service.sql`update problems set state = (state::jsonb || '{"title":"Tampered with"}')::json`
  await service.rebuild()
  expect(await rows()).toEqual(before)
})
