import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Change, Incident, type Principal } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import {
  type EventRecorder,
  recordEvents,
  startTestService,
  type TestService,
  testNatsUrl,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import * as itsm from '../service.js'

let service: TestService
let recorder: EventRecorder
let link: NatsLink
const principal = testPrincipal()

beforeAll(async () => {
  service = await startTestService({ name: 'itsm', ...itsm })
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

/** A standard change, whose life has the fewest steps, that is being implemented. */
const implementing = async (): Promise<Change> => {
  const api = service.as(principal)
  const change = (await api.post('/itsm/changes', { title: 'Patch', type: 'standard', ...window })).data(
    Change,
  )
  await api.post(`/itsm/changes/${change.id}/submit`)
  return (await api.post(`/itsm/changes/${change.id}/implement`)).data(Change)
}
const complete = (change: Change, outcome: string) =>
  service.as(principal).post(`/itsm/changes/${change.id}/complete`, { outcome })

/** An incident on hold that names the change, written into its row. */
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

it('resumes the incidents that await a change once it is completed, and those alone', async () => {
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
    const told = await waitFor(() =>
      recorder.published.find(({ event }) => event.resource.id === id && event.causationId !== null),
    )
    expect(told.event).toMatchObject({
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

it('leaves alone what was put on hold again, when the event comes once more', async () => {
  const change = await implementing()
  const [id, marker] = [await onHold(change.id), await onHold(change.id)]
  await complete(change, 'successful_with_issues')
  await resumed(id)
  await resumed(marker)
  const held = { status: 'on_hold', holdReason: 'awaiting_change' }
  await service.as(principal).patch(`/itsm/incidents/${id}`, held)
  const late = await onHold(change.id)

  // Stored in the stream once more. `late`, which no event has resumed yet, shows that it was handled.
  const { subject, event } = await publishedOf(change.id, 'change.completed')
  const connection = await link.ready()
  connection.publish(subject, JSON.stringify(event))
  await resumed(late)
  expect((await read(id)).status).toBe('on_hold')
})
