import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Incident, IncidentComment, itsmEvents } from '@opsplane/contracts'
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
let api: ApiClient
const principal = testPrincipal()

beforeAll(async () => {
  service = await joinItsm()
  recorder = await recordEvents(service.natsPrefix)
  api = service.as(principal)
})
afterAll(async () => {
  await recorder?.stop()
  await service?.stop()
})

const open = async (fields: object = {}): Promise<Incident> =>
  (await api.post('/itsm/incidents', { title: 'Checkout answers 502', ...fields })).data(Incident)

const act = async (incident: Incident, action: string, body?: object): Promise<Incident> =>
  (await api.post(`/itsm/incidents/${incident.id}/${action}`, body)).data(Incident)

/** Waits for the expected number of published events of one incident and returns them. */
const eventsOf = (id: string, count: number) =>
  waitFor(() => {
    const events = recorder.published.filter(({ event }) => event.resource.id === id)
    return events.length >= count && events
  })

describe('creating an incident', () => {
  it('fills in defaults, and removes surrounding spaces and duplicates', async () => {
    const reply = await api.post('/itsm/incidents', {
      title: '  Checkout answers 502 ',
      tags: ['b', 'a', ' b'],
    })
    expect(reply.status).toBe(201)
    const incident = reply.data(Incident)
    expect(incident).toMatchObject({
      title: 'Checkout answers 502',
      status: 'open',
      severity: 'medium',
      tags: ['b', 'a'],
      createdBy: principal.actor,
      version: 1,
      allowedActions: ['edit', 'assign', 'escalate', 'comment', 'start', 'hold', 'resolve', 'cancel'],
    })
    expect(reply.headers.get('etag')).toBe('"1"')
  })

  it('reports every fault of a body together', async () => {
    const reply = await api.post('/itsm/incidents', { title: '', severity: 'sev1', color: 'red' })
    expect(reply.status).toBe(422)
    expect(
      reply
        .error()
        .details.map(({ path }) => path)
        .sort(),
    ).toEqual(['/color', '/severity', '/title'])
  })

  it('creates one incident per Idempotency-Key', async () => {
    const send = () => api.post('/itsm/incidents', { title: 'Once' }, { 'idempotency-key': 'create-once' })
    const [first, second] = [await send(), await send()]
    expect(second.status).toBe(201)
    expect(second.data(Incident)).toEqual(first.data(Incident))
    expect(second.headers.get('idempotency-replayed')).toBe('true')
    const other = await api.post('/itsm/incidents', { title: 'Two' }, { 'idempotency-key': 'create-once' })
    expect(other.error().code).toBe('idempotency_key_reused')
  })
})

describe('reading an incident', () => {
  it('accepts an id or a number', async () => {
    const incident = await open()
    for (const reference of [incident.id, incident.number]) {
      const reply = await api.get(`/itsm/incidents/${reference}`)
      expect(reply.data(Incident)).toEqual(incident)
    }
  })
})

describe('the lifecycle of an incident', () => {
  it('is reported by one event per step, in order and published once', async () => {
    const incident = await open()
    await api.patch(`/itsm/incidents/${incident.id}`, { assigneeId: principal.userId, category: 'web' })
    await act(incident, 'escalate', { severity: 'high', reason: 'Revenue.' })
    await act(incident, 'resolve', { resolutionCode: 'fixed', resolutionNotes: 'Raised the pool limit.' })
    await act(incident, 'reopen')
    await act(incident, 'resolve')
    const closed = await act(incident, 'close')
    expect(closed).toMatchObject({ status: 'closed', reopenCount: 1, allowedActions: [], version: 8 })

    const published = await eventsOf(incident.id, 8)
    expect(published.map(({ event }) => event.type)).toEqual([
      'incident.created',
      'incident.assigned',
      'incident.updated',
      'incident.escalated',
      'incident.resolved',
      'incident.reopened',
      'incident.resolved',
      'incident.closed',
    ])
    expect(published.map(({ event }) => event.version)).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
    for (const { subject, messageId, event } of published) {
      expect(subject.endsWith(`evt.${principal.workspaceId}.production.${event.type}`)).toBe(true)
      expect(messageId).toBe(event.id)
      expect(event.resource).toEqual({
        type: 'incident',
        id: incident.id,
        number: incident.number,
        displayName: incident.title,
      })
      expect(
        Object.entries(itsmEvents)
          .find(([type]) => type === event.type)?.[1]
          .data.parse(event.data),
      ).toEqual(event.data)
    }
    expect(published[0]?.event.data.before).toBeNull()
    expect(published[3]?.event.data).toMatchObject({
      before: { severity: 'medium' },
      after: { severity: 'high' },
      causes: ['severity_raised'],
      reason: 'Revenue.',
    })
  })

  it('rejects actions the status does not allow, and the error lists the allowed ones', async () => {
    const incident = await open()
    const reply = await api.post(`/itsm/incidents/${incident.id}/close`)
    expect(reply.status).toBe(409)
    expect(reply.error()).toMatchObject({
      code: 'invalid_state_transition',
      details: [{ params: { from: 'open', action: 'close', allowed: incident.allowedActions } }],
    })
    expect((await api.get(`/itsm/incidents/${incident.id}`)).data(Incident)).toEqual(incident)
  })

  it('rejects an escalation to a lower severity', async () => {
    const incident = await open({ severity: 'high' })
    const reply = await api.post(`/itsm/incidents/${incident.id}/escalate`, { severity: 'low' })
    expect(reply.status).toBe(422)
    expect(reply.error().details[0]).toMatchObject({ in: 'body', path: '/severity' })
  })
})

describe('patching an incident', () => {
  it('changes neither version nor log if nothing changes', async () => {
    const incident = await open()
    const reply = await api.patch(`/itsm/incidents/${incident.id}`, { title: incident.title, status: 'open' })
    expect(reply.data(Incident)).toEqual(incident)
    expect(reply.headers.get('etag')).toBe('"1"')
    const rows = await service.sql`select version from events where stream_id = ${incident.id}`
    expect(rows).toHaveLength(1)
  })

  it('is rejected with a stale If-Match', async () => {
    const incident = await open()
    const patch = (title: string) =>
      api.patch(`/itsm/incidents/${incident.id}`, { title }, { 'if-match': '"1"' })
    expect((await patch('First')).status).toBe(200)
    const late = await patch('Second')
    expect(late.status).toBe(412)
    expect(late.error().code).toBe('precondition_failed')
  })

  it('keeps all of many concurrent changes', async () => {
    const incident = await open()
    const names = Array.from({ length: 20 }, (_, index) => `Title ${index}`)
    const replies = await Promise.all(
      names.map((title) => api.patch(`/itsm/incidents/${incident.id}`, { title })),
    )
    expect(replies.map(({ status }) => status)).toEqual(names.map(() => 200))
    expect(replies.map((reply) => reply.data(Incident).version).sort((a, b) => a - b)).toEqual(
      names.map((_, index) => index + 2),
    )
  })
})

describe('comments on an incident', () => {
  it('are counted, listed oldest first and reported by events with their text', async () => {
    const incident = await open()
    const path = `/itsm/incidents/${incident.id}/comments`
    const note = (await api.post(path, { body: 'Restarted it.', visibility: 'internal' })).data(
      IncidentComment,
    )
    const comment = (await api.post(path, { body: 'Better now?' })).data(IncidentComment)
    expect(comment).toMatchObject({ visibility: 'public', author: principal.actor, incidentId: incident.id })

    expect((await api.get(path)).page(IncidentComment).items).toEqual([note, comment])
    expect((await api.get(`${path}?visibility=public`)).page(IncidentComment).items).toEqual([comment])
    const { commentCount, version } = (await api.get(`/itsm/incidents/${incident.id}`)).data(Incident)
    expect([commentCount, version]).toEqual([2, 3])
    const published = await eventsOf(incident.id, 3)
    expect(published[2]?.event).toMatchObject({ type: 'incident.comment_added', data: { comment } })
  })

  it('resume an incident that waits for its caller', async () => {
    const incident = await open({ callerId: principal.actor.id })
    const hold = { status: 'on_hold', holdReason: 'awaiting_caller', comment: 'Please send us the log.' }
    expect((await api.patch(`/itsm/incidents/${incident.id}`, hold)).data(Incident).status).toBe('on_hold')
    await api.post(`/itsm/incidents/${incident.id}/comments`, { body: 'Here is the log.' })
    const { status, holdReason } = (await api.get(`/itsm/incidents/${incident.id}`)).data(Incident)
    expect([status, holdReason]).toEqual(['in_progress', null])
  })

  it('can be added concurrently', async () => {
    const incident = await open()
    const path = `/itsm/incidents/${incident.id}/comments`
    const bodies = Array.from({ length: 20 }, (_, index) => `Comment ${index}`)
    const replies = await Promise.all(bodies.map((body) => api.post(path, { body })))
    expect(replies.map(({ status }) => status)).toEqual(bodies.map(() => 201))
    const { items } = (await api.get(path)).page(IncidentComment)
    expect(items.map(({ body }) => body).sort()).toEqual([...bodies].sort())
  })

  it('are returned again for a repeated Idempotency-Key', async () => {
    const incident = await open()
    const send = () =>
      api.post(
        `/itsm/incidents/${incident.id}/comments`,
        { body: 'Once.' },
        { 'idempotency-key': 'comment-1' },
      )
    const [first, second] = [await send(), await send()]
    expect(second.data(IncidentComment)).toEqual(first.data(IncidentComment))
    expect((await api.get(`/itsm/incidents/${incident.id}`)).data(Incident).commentCount).toBe(1)
  })

  it('are rejected on a canceled incident', async () => {
    const incident = await open()
    await api.patch(`/itsm/incidents/${incident.id}`, { status: 'canceled' })
    const reply = await api.post(`/itsm/incidents/${incident.id}/comments`, { body: 'Too late.' })
    expect(reply.error().code).toBe('invalid_state_transition')
  })
})
