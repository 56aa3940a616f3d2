import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  Change,
  ChangeWindow,
  CiRelation,
  ConfigurationItem,
  newId,
  type PlatformEvent,
  type RelationType,
} from '@opsplane/contracts'
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
import { newTemplate } from '../change/template/template.fixture.js'
import { itsm } from '../service.js'
import { conflictKey } from './conflicts.js'

let service: TestService
let recorder: EventRecorder
let link: NatsLink
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

const span = { from: '2026-06-03T08:00:00.000Z', to: '2026-06-03T12:00:00.000Z' }

/** A separate workspace. Its changes are standard changes at one fixed time, which need no approval. */
function workspace() {
  const api = service.as(testPrincipal())
  const template = newTemplate(api)
  const item = async (ciClass = 'server') =>
    (await api.post('/cmdb/items', { class: ciClass, name: newId('ci') })).data(ConfigurationItem).id
  const relate = async (sourceId: string, targetId: string, type: RelationType = 'depends_on') =>
    (await api.post('/cmdb/relations', { type, sourceId, targetId })).data(CiRelation).id
  const unrelate = (id: string) => api.send('DELETE', `/cmdb/relations/${id}`)
  const scheduled = async (...ciIds: string[]) => {
    const planned = { plannedStart: span.from, plannedEnd: span.to }
    const body = { type: 'standard', templateId: await template, ciIds, ...planned }
    const { id } = (await api.post('/itsm/changes', body)).data(Change)
    return (await api.post(`/itsm/changes/${id}/submit`)).data(Change).id
  }
  /** Waits until the change has exactly these conflicts. */
  const keeps = (id: string, ...expected: string[]) =>
    waitFor(async () => {
      const { conflicts } = (await api.get(`/itsm/changes/${id}`)).data(Change)
      expect(conflicts.map(conflictKey)).toEqual(expected)
      return true
    })
  return { api, item, relate, unrelate, scheduled, keeps }
}

/** The published events of a resource, without duplicates. */
const reported = (id: string) => {
  const own = recorder.published.filter(({ event }) => event.resource.id === id)
  return [...new Map(own.map((message) => [message.event.id, message])).values()]
}
const eventsOf = (id: string, count: number): Promise<PlatformEvent[]> =>
  waitFor(() => {
    const events = reported(id).map(({ event }) => event)
    expect(events).toHaveLength(count)
    return events
  })
/** Waits until all events so far are handled, so that none of them can be recorded as the cause of a later update. */
const allHandled = () => waitUntilSettled(service)
const typesOf = (id: string) => reported(id).map(({ event }) => event.type.replace('change.', ''))

describe('a relation between items', () => {
  it('causes a conflict of changes when it is added, and ends it when it is removed', async () => {
    const { item, relate, unrelate, scheduled, keeps } = workspace()
    const chain = await Promise.all(Array.from({ length: 6 }, () => item()))
    const [first = '', second = '', third = '', fourth = '', fifth = '', sixth = ''] = chain
    await relate(first, second)
    await relate(third, second, 'contains')
    await relate(fourth, fifth, 'hosted_on')
    await relate(fifth, sixth)
    const [above, below] = [await scheduled(first), await scheduled(sixth)]
    const apart = await scheduled(await item())
    await allHandled()

    // The second item is contained in the third: the change above is five relations away from the change below.
    const relation = await relate(third, fourth, 'runs_on')
    await keeps(above, `dependent_ci/${below}`)
    await keeps(below, `dependent_ci/${above}`)
    await allHandled()
    await unrelate(relation)
    await keeps(above)
    await keeps(below)
    const [added, removed] = await eventsOf(relation, 2)
    for (const id of [above, below]) {
      const [, , detected, gone] = await eventsOf(id, 4)
      expect(detected).toMatchObject({
        type: 'change.conflict_detected',
        actor: { type: 'system' },
        causationId: added?.id,
        data: { newConflicts: [{ kind: 'dependent_ci' }] },
      })
      expect(gone).toMatchObject({ type: 'change.updated', causationId: removed?.id })
      expect(gone?.data.changes).toEqual(['conflicts', 'updatedAt'])
    }
    await allHandled()
    await eventsOf(apart, 2)
    expect(typesOf(apart)).toEqual(['created', 'submitted'])
  })

  it('without impact or beyond the depth limit causes no conflict', async () => {
    const { item, relate, scheduled, keeps } = workspace()
    const chain = await Promise.all(Array.from({ length: 7 }, () => item()))
    const [first = '', , , , fifth = '', sixth = '', last = ''] = chain
    for (const [index, id] of chain.slice(1, 5).entries()) await relate(chain[index] ?? '', id)
    const [above, below] = [await scheduled(first), await scheduled(last)]
    await relate(sixth, last)
    await relate(fifth, sixth)
    await relate(first, last, 'connects_to')
    await allHandled()
    for (const id of [above, below]) {
      await keeps(id)
      await eventsOf(id, 2)
      expect(typesOf(id)).toEqual(['created', 'submitted'])
    }
  })

  it('among many added concurrently is reported once, and not again on redelivery', async () => {
    const { item, relate, scheduled, keeps } = workspace()
    const [hub, ...spokes] = await Promise.all(Array.from({ length: 41 }, () => item()))
    const [one, other] = [await scheduled(hub ?? ''), await scheduled(...spokes)]
    const relations = await Promise.all(spokes.map((spoke) => relate(spoke, hub ?? '')))
    await keeps(one, `dependent_ci/${other}`)
    await waitFor(() => relations.every((id) => reported(id).length === 1))

    const connection = await link.ready()
    for (const { subject, event } of relations.flatMap(reported))
      await connection.request(subject, JSON.stringify(event), {
        timeout: 30_000,
        headers: signedHeaders({ subject, body: JSON.stringify(event) }),
      })
    await allHandled()
    const newOnes = async (id: string) => {
      const rows = await service.sql`
        select data from events where stream_id = ${id} and type = 'change.conflict_detected' order by version`
      return rows.flatMap(({ data }) => data.newConflicts)
    }
    expect(await newOnes(one)).toMatchObject([{ with: other }])
    expect(await newOnes(other)).toMatchObject([{ with: one }])
  })
})

describe('a configuration item', () => {
  it('that changes its class comes under other windows, and under none once it is deleted', async () => {
    const { api, item, scheduled, keeps } = workspace()
    const [server, planned] = [await item(), await item('database')]
    const body = { name: 'Freeze', kind: 'blackout', span, classes: ['database'] }
    const touching = await scheduled(server)
    const dropping = await scheduled(planned)
    const { id: windowId } = (await api.post('/itsm/change-windows', body)).data(ChangeWindow)
    await keeps(dropping, `blackout/${windowId}`)
    await allHandled()

    await api.patch(`/cmdb/items/${server}`, { class: 'database' })
    await keeps(touching, `blackout/${windowId}`)
    const [, renamed] = await eventsOf(server, 2)
    const [, , detected] = await eventsOf(touching, 3)
    expect(detected).toMatchObject({ type: 'change.conflict_detected', causationId: renamed?.id })
    await api.send('DELETE', `/cmdb/items/${planned}`)
    await keeps(dropping)
  })
})

it('a relation event notifies every affected change, even if one of them cannot be notified', async () => {
  const { item, relate, scheduled, keeps } = workspace()
  const [one, other] = [await item(), await item()]
  const changes = [await scheduled(one), await scheduled(other)].sort()
  // Moves the head of the first change's stream but not its row, so that every decision for it loses a race.
  await service.sql`update stream_heads set version = version + 1 where stream_id = ${changes[0] ?? ''}`
  await relate(one, other)
  await keeps(changes[1] ?? '', `dependent_ci/${changes[0]}`)
  await keeps(changes[0] ?? '')
})
