import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Change, type ChangeConflict, ChangeWindow, ConfigurationItem } from '@opsplane/contracts'
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
  waitUntilSettled,
} from '@opsplane/testing'
import { conflictKey } from '../../change-window/conflicts.js'
import { itsm } from '../../service.js'
import { newTemplate } from '../template/template.fixture.js'

let service: TestService
let recorder: EventRecorder
let link: NatsLink
beforeAll(async () => {
  service = await startTestService(itsm)
  recorder = await recordEvents(service.natsPrefix)
  link = connectNats({
    url: testNatsUrl(),
    name: 'test',
    log: createLogger({ service: 'test', level: 'silent' }),
  })
})
afterAll(async () => {
  await link?.close()
  await recorder?.stop()
  await service?.stop()
})

const hours = (from: number, to: number) => ({
  plannedStart: `2026-06-03T${String(from).padStart(2, '0')}:00:00.000Z`,
  plannedEnd: `2026-06-03T${String(to).padStart(2, '0')}:00:00.000Z`,
})

function workspace() {
  const api = service.as(testPrincipal())
  const template = newTemplate(api)
  const item = async () =>
    (await api.post('/cmdb/items', { class: 'server', name: 'web' })).data(ConfigurationItem).id
  const draft = async (fields: object) => {
    const body = { title: 'New disks', type: 'standard', templateId: await template, ...fields }
    return (await api.post('/itsm/changes', body)).data(Change)
  }
  const submit = async (id: string) => (await api.post(`/itsm/changes/${id}/submit`)).data(Change)
  const conflicts = async (id: string) => (await api.get(`/itsm/changes/${id}`)).data(Change).conflicts
  return { api, item, draft, submit, conflicts }
}

const keys = (conflicts: ChangeConflict[]) => conflicts.map(conflictKey)
/** The published events of a resource, without duplicates. */
const reported = (id: string) => {
  const own = recorder.published.filter(({ event }) => event.resource.id === id)
  return [...new Map(own.map((message) => [message.event.id, message])).values()]
}
const allHandled = () => waitUntilSettled(service)
/** The events of a change in the log. */
const logged = async (id: string) => [
  ...(await service.sql`select type, data from events where stream_id = ${id} order by version`),
]
/** The conflicts reported for a change since its submission, event by event. */
const detected = async (id: string): Promise<string[]> =>
  (await logged(id))
    .filter(({ type }) => type === 'change.conflict_detected')
    .flatMap(({ data }) => keys(data.newConflicts))

it('notifies each of many changes submitted concurrently of every other, exactly once', async () => {
  const { item, draft, submit, conflicts } = workspace()
  const ciIds = [await item()]
  const drafts = await Promise.all(Array.from({ length: 8 }, () => draft({ ...hours(8, 12), ciIds })))
  const submitted = await Promise.all(drafts.map(({ id }) => submit(id)))
  await allHandled()
  for (const change of submitted) {
    const others = drafts.filter(({ id }) => id !== change.id).map(({ id }) => `same_ci/${id}`)
    expect(keys(await conflicts(change.id)).sort()).toEqual(others.sort())
    expect([...keys(change.conflicts), ...(await detected(change.id))].sort()).toEqual(others)
  }
})

it('does not repeat a conflict when events are redelivered', async () => {
  const { api, item, draft, submit, conflicts } = workspace()
  const ciIds = [await item()]
  const [one, other] = [await draft({ ...hours(8, 12), ciIds }), await draft({ ...hours(10, 14), ciIds })]
  await submit(one.id)
  await submit(other.id)
  const freeze = {
    name: 'Freeze',
    kind: 'blackout',
    span: { from: '2026-06-03T11:00:00Z', to: '2026-06-03T13:00:00Z' },
  }
  const { id: windowId } = (await api.post('/itsm/change-windows', freeze)).data(ChangeWindow)
  const both = [`blackout/${windowId}`, `same_ci/${other.id}`]
  await allHandled()
  expect(keys(await conflicts(one.id))).toEqual(both)
  expect(keys(await conflicts(other.id))).toEqual([`blackout/${windowId}`, `same_ci/${one.id}`])
  const published = await waitFor(() => {
    const events = [one.id, other.id, windowId].map(reported)
    return events.every(({ length }) => length > 0) && events.flat()
  })

  const connection = await link.ready()
  for (const { subject, event } of published)
    await connection.request(subject, JSON.stringify(event), {
      timeout: 30_000,
      headers: signedHeaders({ subject, body: JSON.stringify(event) }),
    })
  await allHandled()
  expect((await detected(one.id)).sort()).toEqual([...both].sort())
  expect(await detected(other.id)).toEqual([`blackout/${windowId}`])
})

it('does not affect changes that are planned for another time', async () => {
  const { api, item, draft, submit } = workspace()
  const ciIds = [await item()]
  const [one, far] = [await draft({ ...hours(8, 10), ciIds }), await draft({ ...hours(10, 12), ciIds })]
  await submit(one.id)
  await submit(far.id)
  await api.patch(`/itsm/changes/${far.id}`, { assignmentGroup: 'disks' })
  const near = await draft({ ...hours(9, 10), ciIds })
  await submit(near.id)
  await allHandled()
  expect((await logged(one.id)).map(({ type }) => type)).toEqual([
    'change.created',
    'change.submitted',
    'change.conflict_detected',
  ])
  expect((await logged(far.id)).map(({ type }) => type)).toEqual([
    'change.created',
    'change.submitted',
    'change.updated',
  ])
})
