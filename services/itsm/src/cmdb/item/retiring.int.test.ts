import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { Change, ConfigurationItem, Incident, Problem } from '@opsplane/contracts'
import { startTestService, type TestService, testPrincipal } from '@opsplane/testing'
import { createReplica, raceWithTransaction, type TestReplica, toCommandMeta } from '../../replica.fixture.js'
import { itsm } from '../../service.js'
import { configurationItem } from './item-domain.js'

let service: TestService
let elsewhere: TestReplica
const principal = testPrincipal()
const api = () => service.as(principal)
beforeAll(async () => {
  service = await startTestService(itsm)
  elsewhere = createReplica(service)
})
afterAll(async () => {
  await elsewhere?.database.close()
  await service?.stop()
})

type Reply = Awaited<ReturnType<ReturnType<typeof api>['post']>>
const item = async () =>
  (await api().post('/cmdb/items', { name: 'Disk', class: 'server' })).data(ConfigurationItem)
const incident = async (fields: object = {}) =>
  (await api().post('/itsm/incidents', { title: 'Slow', ...fields })).data(Incident)
const change = async (fields: object = {}) =>
  (await api().post('/itsm/changes', { title: 'New disks', type: 'emergency', ...fields })).data(Change)
const window = { plannedStart: '2026-03-07T22:00:00.000Z', plannedEnd: '2026-03-08T02:00:00.000Z' }

/**
 * Every request that refers to an item, prepared in advance: the
 * request, and the path of its error if the item is retired.
 */
const ways: Record<string, (id: string) => Promise<{ path: string; act: () => Promise<Reply> }>> = {
  'a relation from it': async (sourceId) => {
    const body = { type: 'depends_on', sourceId, targetId: (await item()).id }
    return { path: '/sourceId', act: () => api().post('/cmdb/relations', body) }
  },
  'a relation to it': async (targetId) => {
    const body = { type: 'depends_on', sourceId: (await item()).id, targetId }
    return { path: '/targetId', act: () => api().post('/cmdb/relations', body) }
  },
  'an incident': async (ciId) => {
    return { path: '/ciId', act: () => api().post('/itsm/incidents', { title: 'Slow', ciId }) }
  },
  'an edited incident': async (ciId) => {
    const { id } = await incident()
    return { path: '/ciId', act: () => api().patch(`/itsm/incidents/${id}`, { ciId }) }
  },
  'an incident that gets a parent as well': async (ciId) => {
    const [{ id }, parent] = [await incident(), await incident()]
    const body = { ciId, parentId: parent.id }
    return { path: '/ciId', act: () => api().patch(`/itsm/incidents/${id}`, body) }
  },
  'a change': async (id) => {
    const body = { title: 'New disks', ciIds: [(await item()).id, id] }
    return { path: '/ciIds/1', act: () => api().post('/itsm/changes', body) }
  },
  'an edited change': async (id) => {
    const before = await change()
    return { path: '/ciIds/0', act: () => api().patch(`/itsm/changes/${before.id}`, { ciIds: [id] }) }
  },
  'a submitted change': async (id) => {
    const drafted = await change({ ciIds: [id], ...window })
    return { path: '/ciIds/0', act: () => api().post(`/itsm/changes/${drafted.id}/submit`, {}) }
  },
  'a problem': async (id) => {
    return { path: '/ciIds/0', act: () => api().post('/itsm/problems', { title: 'Slow', ciIds: [id] }) }
  },
  'an edited problem': async (id) => {
    const before = (await api().post('/itsm/problems', { title: 'Slow' })).data(Problem)
    return { path: '/ciIds/0', act: () => api().patch(`/itsm/problems/${before.id}`, { ciIds: [id] }) }
  },
}

const retire = ({ id }: ConfigurationItem) => api().post(`/cmdb/items/${id}/retire`, {})

/** Runs `act` while another replica has retired the item in a transaction that is not yet committed. */
function whileRetiring({ id }: ConfigurationItem, act: () => Promise<Reply>): Promise<Reply> {
  const meta = toCommandMeta(principal)
  const items = elsewhere.store.aggregate(configurationItem)
  return raceWithTransaction(
    elsewhere,
    meta,
    (unit) => unit.handle(items, id, { kind: 'retire', now: meta.now }),
    act,
  )
}

it.each(Object.entries(ways))('rejects %s while the item is being retired', async (_, ready) => {
  const retiring = await item()
  const { path, act } = await ready(retiring.id)
  const reply = await whileRetiring(retiring, act)
  expect(reply.status).toBe(422)
  expect(reply.error().details).toMatchObject([{ path, code: 'retired' }])
})

it('omits an item that is being retired from a problem created from an incident', async () => {
  const retiring = await item()
  const { id } = await incident({ ciId: retiring.id })
  const raised = await whileRetiring(retiring, () => api().post(`/itsm/incidents/${id}/problem`))
  expect(raised.data(Problem).ciIds).toEqual([])
})

it('omits an item that is being retired from the follow-up incident of a late caller comment', async () => {
  const retiring = await item()
  const { id } = await incident({ ciId: retiring.id, callerId: principal.userId })
  await api().patch(`/itsm/incidents/${id}`, { status: 'canceled' })
  const said = await whileRetiring(retiring, () =>
    api().post(`/itsm/incidents/${id}/comments`, { body: 'It is slow again.', visibility: 'public' }),
  )
  expect(said.status).toBe(201)
  const { followUpId } = (await api().get(`/itsm/incidents/${id}`)).data(Incident)
  expect((await api().get(`/itsm/incidents/${followUpId}`)).data(Incident).ciId).toBeNull()
})

it('accepts no reference after the item was retired, under repeated concurrency', async () => {
  for (let round = 0; round < 5; round++) {
    const retiring = await item()
    const acts = await Promise.all(Object.values(ways).map((ready) => ready(retiring.id)))
    const all = acts.map(({ act }) => act)
    all.splice((round * 3) % (all.length + 1), 0, () => retire(retiring))
    const replies = await Promise.all(all.map((act) => act()))
    const others = replies.map(({ status }) => status).filter((status) => ![200, 201, 422].includes(status))
    expect(others).toEqual([])
    const [retired] = await service.sql`
      select position::int as position from events where stream_id = ${retiring.id} and type = 'ci.retired'`
    const late = await service.sql`
      select type from events
      where stream_type in ('incidents', 'changes', 'problems', 'ci_relations') and position > ${retired?.position}
        and strpos((data->'after')::text, ${retiring.id}) > 0
        and (type = 'change.submitted' or strpos(coalesce((data->'before')::text, ''), ${retiring.id}) = 0)`
    expect(late.map(({ type }) => type)).toEqual([])
  }
})
