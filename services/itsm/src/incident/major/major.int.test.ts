import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Incident, IncidentComment, type IncidentState } from '@opsplane/contracts'
import {
  type ApiClient,
  type ApiReply,
  startTestService,
  type TestService,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import { itsm } from '../../service.js'

let service: TestService
let api: ApiClient
let grace: ApiClient
const ada = testPrincipal()

beforeAll(async () => {
  service = await startTestService(itsm)
  api = service.as(ada)
  const userId = 'usr_01JZ8Q4D3N5W7X9Y2B4C6D8E0G'
  grace = service.as({ ...ada, userId, actor: { id: userId, name: 'Grace', type: 'user' } })
})
afterAll(() => service?.stop())

const path = '/itsm/incidents'
const open = async (fields: object = {}): Promise<Incident> =>
  (await api.post(path, { title: 'Checkout answers 502', ...fields })).data(Incident)
const get = async (id: string) => (await api.get(`${path}/${id}`)).data(Incident)
const decide = (client: ApiClient, id: string, action: string, body?: object) =>
  client.post(`${path}/${id}/major/${action}`, body)
const refused = (reply: ApiReply) => [reply.status, reply.error().code, reply.error().details[0]?.path]

describe('a major incident', () => {
  it('is proposed, accepted by another person, reviewed and closed', async () => {
    const { id, number, majorState, allowedMajorActions } = await open()
    expect([majorState, allowedMajorActions]).toEqual(['none', ['propose']])
    const proposed = (await decide(api, number, 'propose', { reason: 'Payments fail.' })).data(Incident)
    expect(proposed).toMatchObject({
      majorState: 'proposed',
      majorProposal: { by: ada.actor, userId: ada.userId, reason: 'Payments fail.' },
      allowedMajorActions: ['accept', 'reject'],
    })
    const key = service.as({ ...ada, actor: { id: 'tok_1', name: 'CI', type: 'api_token' } })
    for (const proposer of [api, key])
      expect(refused(await decide(proposer, id, 'accept')).slice(0, 2)).toEqual([403, 'forbidden'])
    expect((await decide(grace, id, 'accept')).data(Incident)).toMatchObject({
      majorState: 'accepted',
      allowedMajorActions: ['demote'],
      version: 3,
    })
    await api.post(`${path}/${id}/resolve`)
    expect(refused(await api.post(`${path}/${id}/close`))).toEqual([
      422,
      'validation_failed',
      '/postIncidentReview',
    ])
    await api.patch(`${path}/${id}`, { postIncidentReview: ' The pool was too small. ' })
    const closed = (await api.post(`${path}/${id}/close`)).data(Incident)
    expect(closed).toMatchObject({
      status: 'closed',
      postIncidentReview: 'The pool was too small.',
      allowedMajorActions: [],
    })
    const events = await service.sql`
      select data from events where stream_id = ${id} and type = 'incident.major_changed' order by version`
    expect(
      events.map(({ data }) => [data.from, data.to, data.reason, data.changes.includes('majorState')]),
    ).toEqual([
      ['none', 'proposed', 'Payments fail.', true],
      ['proposed', 'accepted', null, true],
    ])
  })

  it('rejects actions its state does not allow, and the error lists the allowed ones', async () => {
    const { id } = await open()
    const reply = await decide(api, id, 'demote')
    expect(reply.status).toBe(409)
    expect(reply.error()).toMatchObject({
      code: 'invalid_state_transition',
      details: [{ params: { from: 'none', action: 'demote', allowed: ['propose'] } }],
    })
    expect(refused(await decide(api, id, 'propose', { reason: '' }))).toEqual([
      422,
      'validation_failed',
      '/reason',
    ])
  })

  it('requires itsm:write to propose and itsm:approve to decide, within its tenant', async () => {
    const { id } = await open()
    const writer = service.as({ ...ada, permissions: ['itsm:read', 'itsm:write'] })
    expect((await decide(writer, id, 'propose')).status).toBe(200)
    for (const action of ['accept', 'reject', 'demote'])
      expect((await decide(writer, id, action)).error().code).toBe('insufficient_scope')
    for (const elsewhere of [testPrincipal(), testPrincipal({ ...ada, environment: 'staging' })])
      for (const action of ['propose', 'accept', 'reject', 'demote'])
        expect((await decide(service.as(elsewhere), id, action)).error().code).toBe('not_found')
  })
})

describe('a parent incident with children', () => {
  it('passes its resolution on to its children, and is identical after a rebuild from the log', async () => {
    const parent = await open()
    const [first, second] = [await open({ parentId: parent.id }), await open()]
    await api.patch(`${path}/${second.id}`, { parentId: parent.id })
    expect((await get(parent.id)).childCount).toBe(2)
    await api.post(`${path}/${parent.id}/resolve`, { resolutionCode: 'fixed', resolutionNotes: 'Mended.' })
    for (const { id } of [first, second])
      await waitFor(async () => {
        const { status, resolutionCode, followsParent } = await get(id)
        return status === 'resolved' && resolutionCode === 'fixed' && followsParent
      })
    await api.post(`${path}/${parent.id}/reopen`)
    await waitFor(async () => (await get(first.id)).status === 'in_progress')

    const rows = () =>
      service.sql<{ id: string; state: IncidentState }[]>`
        select id, version, parent_id, state from incidents order by id`
    await waitFor(async () => (await get(second.id)).status === 'in_progress')
    const before = [...(await rows())]
    await service.rebuild()
    expect([...(await rows())]).toEqual(before)
  })

  it('is rejected with the path of the field if it cannot be a parent', async () => {
    const { id } = await open()
    const elsewhere = await service.as(testPrincipal()).post(path, { title: 'Theirs' })
    for (const parentId of [elsewhere.data(Incident).id, 'INC-1', id]) {
      const reply = await api.patch(`${path}/${id}`, { parentId })
      expect(refused(reply)).toEqual([422, 'validation_failed', '/parentId'])
    }
    const reply = await api.post(path, { title: 'Mine', parentId: elsewhere.data(Incident).id })
    expect(refused(reply)).toEqual([422, 'validation_failed', '/parentId'])
  })

  it('counts a child once per Idempotency-Key', async () => {
    const parent = await open()
    const send = () =>
      api.post(path, { title: 'Once', parentId: parent.id }, { 'idempotency-key': `once-${parent.id}` })
    const [first, second] = [await send(), await send()]
    expect(second.data(Incident)).toEqual(first.data(Incident))
    expect((await get(parent.id)).childCount).toBe(1)
  })
})

it('a comment of the caller reopens a resolved incident, and opens a follow-up to a closed one', async () => {
  const { id } = await open({ callerId: ada.actor.id })
  await api.post(`${path}/${id}/resolve`)
  const say = () => api.post(`${path}/${id}/comments`, { body: 'Still 502.' })
  expect((await say()).status).toBe(201)
  expect(await get(id)).toMatchObject({ status: 'in_progress', reopenCount: 1 })
  await api.post(`${path}/${id}/resolve`)
  await api.post(`${path}/${id}/close`)
  const { incidentId } = (await say()).data(IncidentComment)
  expect(await get(id)).toMatchObject({ status: 'closed', reopenCount: 1, followUpId: incidentId })
  expect(await get(incidentId)).toMatchObject({ status: 'open', majorState: 'none', followsUpOn: id })
})

it('a comment of the caller is kept without reopening if another incident of the dedupKey is open', async () => {
  const { id } = await open({ callerId: ada.actor.id, dedupKey: 'checkout' })
  await api.post(`${path}/${id}/resolve`)
  expect((await open({ dedupKey: 'checkout' })).id).not.toBe(id)
  const reply = await api.post(`${path}/${id}/comments`, { body: 'Still 502.' })
  expect(reply.status).toBe(201)
  expect(await get(id)).toMatchObject({ status: 'resolved', commentCount: 1 })
})
