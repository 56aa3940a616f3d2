import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Change, Incident, type Principal } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import {
  type EventRecorder,
  recordEvents,
  signedHeaders,
  startTestService,
  type TestService,
  testNatsUrl,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import { itsm } from '../service.js'
import { newTemplate } from './template/template.fixture.js'

let service: TestService
let recorder: EventRecorder
let link: NatsLink
const principal = testPrincipal()

beforeAll(async () => {
  service = await startTestService(itsm)
  recorder = await recordEvents(service.natsPrefix)
  const log = createLogger({ service: 'test', level: 'silent' })
  link = connectNats({ url: testNatsUrl(), name: 'test', log })
})
afterAll(async () => {
  await link?.close()
  await recorder?.stop()
  await service?.stop()
})

const window = { plannedStart: '2026-03-07T22:00:00.000Z', plannedEnd: '2026-03-08T02:00:00.000Z' }

/** A standard change in implementation. Standard changes need the fewest steps. */
const implementing = async (): Promise<Change> => {
  const api = service.as(principal)
  const body = { type: 'standard', templateId: await newTemplate(api), ...window }
  const change = (await api.post('/itsm/changes', body)).data(Change)
  await api.post(`/itsm/changes/${change.id}/submit`)
  return (await api.post(`/itsm/changes/${change.id}/implement`)).data(Change)
}
const complete = (change: Change, outcome: string) =>
  service.as(principal).post(`/itsm/changes/${change.id}/complete`, { outcome })

/** An incident on hold whose `changeId` is written directly into its row. */
const onHold = async (changeId: string, holdReason = 'awaiting_change', as: Principal = principal) => {
  const api = service.as(as)
  const { id } = (await api.post('/itsm/incidents', { title: 'It fails' })).data(Incident)
  await api.patch(`/itsm/incidents/${id}`, { status: 'on_hold', holdReason })
  await service.sql`
    update incidents set state = jsonb_set(state::jsonb, '{changeId}', to_jsonb(${changeId}::text))::json
    where id = ${id}`
  return id
}
const read = async (id: string, as: Principal = principal): Promise<Incident> =>
  (await service.as(as).get(`/itsm/incidents/${id}`)).data(Incident)
const resumed = (id: string) =>
  waitFor(async () => (await read(id)).status === 'in_progress', { message: `${id} to be resumed` })
const publishedOf = (id: string, type: string) =>
  waitFor(() => recorder.published.find(({ event }) => event.resource.id === id && event.type === type))

it('resumes only the incidents on hold for a change once it is completed', async () => {
  const [change, other] = [await implementing(), await implementing()]
  const [first, second] = [await onHold(change.id), await onHold(change.id)]
  const vendor = await onHold(change.id, 'awaiting_vendor')
  const elsewhere = await onHold(other.id)
  const stranger = testPrincipal()
  const foreign = await onHold(change.id, 'awaiting_change', stranger)
  await complete(change, 'successful_with_issues')
  await resumed(first)
  await resumed(second)

  const completed = await publishedOf(change.id, 'change.completed')
  for (const id of [first, second]) {
    const reported = await waitFor(() =>
      recorder.published.find(({ event }) => event.resource.id === id && event.causationId !== null),
    )
    expect(reported.event).toMatchObject({
      type: 'incident.updated',
      causationId: completed.event.id,
      actor: { type: 'system' },
      data: { after: { status: 'in_progress', holdReason: null }, cause: 'change' },
    })
  }
  expect((await read(vendor)).status).toBe('on_hold')
  expect((await read(elsewhere)).status).toBe('on_hold')
  expect((await read(foreign, stranger)).status).toBe('on_hold')
})

it('does not resume an incident that was put on hold again when the event is redelivered', async () => {
  const change = await implementing()
  const [id, marker] = [await onHold(change.id), await onHold(change.id)]
  await complete(change, 'successful_with_issues')
  await resumed(id)
  await resumed(marker)
  const held = { status: 'on_hold', holdReason: 'awaiting_vendor' }
  await service.as(principal).patch(`/itsm/incidents/${id}`, held)
  const late = await onHold(change.id)

  // Publishes the event to the stream again. `late`, which no event has resumed yet, shows that it was handled.
  const { subject, event } = await publishedOf(change.id, 'change.completed')
  const connection = await link.ready()
  const headers = signedHeaders({ subject, body: JSON.stringify(event) })
  connection.publish(subject, JSON.stringify(event), { headers })
  await resumed(late)
  expect((await read(id)).status).toBe('on_hold')
})

describe('holding an incident for a change that has ended', () => {
  const hold = { status: 'on_hold', holdReason: 'awaiting_change' }
  const api = () => service.as(principal)
  const open = async (fields: object = {}) =>
    (await api().post('/itsm/incidents', { title: 'It fails', ...fields })).data(Incident)
  const over = async () => {
    const change = await implementing()
    return (await complete(change, 'successful_with_issues')).data(Change)
  }

  it('is rejected, and the error names its status', async () => {
    const canceled = (await api().post('/itsm/changes', { title: 'Patch' })).data(Change)
    await api().post(`/itsm/changes/${canceled.id}/cancel`, { reason: 'Not needed.' })
    for (const [id, status] of [
      [(await over()).id, 'review'],
      [canceled.id, 'canceled'],
    ] as const) {
      const incident = await open({ changeId: id })
      const refused = await api().patch(`/itsm/incidents/${incident.id}`, hold)
      expect(refused.error().details[0]).toMatchObject({ path: '/holdReason', code: 'change_ended' })
      expect(refused.text).toContain(status)
      expect(await read(incident.id)).toEqual(incident)
    }
    const waiting = await open({ changeId: (await implementing()).id })
    expect((await api().patch(`/itsm/incidents/${waiting.id}`, hold)).status).toBe(200)
  })

  it('ends when the ended change is linked later', async () => {
    const { id } = await open()
    await api().patch(`/itsm/incidents/${id}`, hold)
    await api().patch(`/itsm/incidents/${id}`, { changeId: (await over()).id })
    await resumed(id)
  })

  it('ends if hold and completion happen concurrently, in either order', async () => {
    for (let round = 0; round < 12; round++) {
      const change = await implementing()
      const { id } = await open({ changeId: change.id })
      const [held] = await Promise.all([
        api().patch(`/itsm/incidents/${id}`, hold),
        complete(change, 'successful_with_issues'),
      ])
      expect([200, 422]).toContain(held.status)
      if (held.status === 200) await resumed(id)
      else expect((await read(id)).status).toBe('open')
    }
  })

  it('ends if neither the hold nor the completion has seen the other', async () => {
    const [change, marker] = [await implementing(), await implementing()]
    const [{ id }, shown] = [await open({ changeId: change.id }), await onHold(marker.id)]
    await complete(change, 'successful_with_issues')
    await complete(marker, 'successful_with_issues')
    await resumed(shown)
    const completed = (await service.sql`select state from changes where id = ${change.id}`)[0]?.state
    // Simulates a hold that reads the change before its end is committed, and commits after that end was published.
    await service.sql`
      update changes set state = (state::jsonb || '{"status":"implementing"}')::json where id = ${change.id}`
    expect((await api().patch(`/itsm/incidents/${id}`, hold)).status).toBe(200)
    const { subject, event } = await publishedOf(id, 'incident.updated')
    await service.sql`update changes set state = ${service.sql.json(completed)} where id = ${change.id}`
    const connection = await link.ready()
    const headers = signedHeaders({ subject, body: JSON.stringify(event) })
    connection.publish(subject, JSON.stringify(event), { headers })
    await resumed(id)
  })
})
