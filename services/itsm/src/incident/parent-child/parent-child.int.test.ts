import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { type ApiError, type IncidentPatch, type IncidentState, newId } from '@opsplane/contracts'
import { createEventStore } from '@opsplane/eventstore'
import { uncheckedPeople } from '../../people.js'
import { settingsStore } from '../../settings/settings-store.js'
import { productionTenant, type TestDesk, testDesk } from '../desk.fixture.js'
import { incidentStore } from '../incident-store.js'
import { openIncident } from '../open-incident.js'
import { agent, create, settings } from '../sample-incidents.fixture.js'
import { patchIncident } from './linking.js'

let desk: TestDesk
beforeAll(async () => {
  desk = await testDesk()
})
afterAll(() => desk?.close())

const tenant = productionTenant()
const now = '2026-03-02T10:00:00.000Z'
const open = (parentId: string | null = null) => desk.open(tenant, parentId)
const patch = (id: string, patch: IncidentPatch, expectedVersion?: number) =>
  desk.patch(tenant, id, patch, expectedVersion)
const get = (id: string) => desk.incidents.get(id, tenant)
const countOf = async (id: string) => (await get(id)).childCount
const refusal = async (work: Promise<unknown>) => {
  const error = await work.then(
    () => undefined,
    (thrown: ApiError) => thrown,
  )
  return [error?.code, error?.details[0]?.path, error?.details[0]?.code]
}
const childrenIn = async (parentId: string) => {
  const [row] = await desk.ctx.database.sql`
    select count(*)::int as children from incidents where parent_id = ${parentId}`
  return row?.children
}

describe('a parent incident', () => {
  it('counts children that are created, attached, detached and moved', async () => {
    const [left, right, child] = [await open(), await open(), await open()]
    await open(left.id)
    expect(await countOf(left.id)).toBe(1)
    await patch(child.id, { parentId: left.id })
    expect([await countOf(left.id), (await get(child.id)).parentId]).toEqual([2, left.id])
    const { version } = await get(left.id)
    await patch(child.id, { parentId: left.id, title: 'Still there' })
    expect([await countOf(left.id), (await get(left.id)).version]).toEqual([2, version])
    await patch(child.id, { parentId: right.id })
    expect([await countOf(left.id), await countOf(right.id)]).toEqual([1, 1])
    await patch(child.id, { parentId: null })
    expect([await countOf(right.id), (await get(child.id)).parentId]).toEqual([0, null])
  })

  it('can lose a child after it has ended', async () => {
    const parent = await open()
    const child = await open(parent.id)
    await desk.incidents.handle(parent.id, { kind: 'cancel', now }, desk.meta(tenant))
    await patch(child.id, { parentId: null })
    expect(await get(parent.id)).toMatchObject({ childCount: 0, status: 'canceled' })
  })

  it('is updated together with the child, or not at all', async () => {
    const [parent, child] = [await open(), await open()]
    await desk.incidents.handle(child.id, { kind: 'cancel', now }, desk.meta(tenant))
    expect((await refusal(patch(child.id, { parentId: parent.id })))[0]).toBe('invalid_state_transition')
    expect(await countOf(parent.id)).toBe(0)
  })
})

describe('rejected as a parent', () => {
  const cases: [string, string, (child: IncidentState) => Promise<string>][] = [
    ['the incident itself', 'itself', async ({ id }) => id],
    ['one that is not there', 'unknown_incident', async () => newId('incident')],
    ['one of another workspace', 'unknown_incident', async () => (await desk.open(productionTenant())).id],
    [
      'one of another environment',
      'unknown_incident',
      async () => (await desk.open({ ...tenant, environment: 'staging' })).id,
    ],
    ['one that has a parent', 'has_parent', async () => (await open((await open()).id)).id],
    [
      'one that is canceled',
      'ended',
      async () => {
        const { id } = await open()
        await desk.incidents.handle(id, { kind: 'cancel', now }, desk.meta(tenant))
        return id
      },
    ],
  ]

  it.each(cases)('is %s', async (_, code, parentOf) => {
    const child = await open()
    const parentId = await parentOf(child)
    expect(await refusal(patch(child.id, { parentId }))).toEqual(['validation_failed', '/parentId', code])
    expect(await get(child.id)).toEqual(child)
    if (parentId !== child.id)
      expect(await refusal(open(parentId))).toEqual(['validation_failed', '/parentId', code])
  })

  it('is any incident if the child has children itself', async () => {
    const [parent, other] = [await open(), await open()]
    await open(parent.id)
    const refused = ['validation_failed', '/parentId', 'has_children']
    expect(await refusal(patch(parent.id, { parentId: other.id }))).toEqual(refused)
    expect(await countOf(other.id)).toBe(0)
  })
})

describe('concurrent changes of children', () => {
  it('are all counted when children are created and moved', async () => {
    const [left, right] = [await open(), await open()]
    const ids = (await Promise.all(Array.from({ length: 20 }, () => open(left.id)))).map(({ id }) => id)
    expect(await countOf(left.id)).toBe(20)
    await Promise.all([
      ...ids.map((id, at) => patch(id, { parentId: at % 3 === 0 ? null : right.id })),
      ...Array.from({ length: 10 }, (_, at) => open(at % 2 === 0 ? left.id : right.id)),
      ...Array.from({ length: 10 }, (_, at) => patch(left.id, { title: `Title ${at}` })),
    ])
    for (const { id } of [left, right]) expect(await countOf(id)).toBe(await childrenIn(id))
    expect([await countOf(left.id), await countOf(right.id)]).toEqual([5, 18])
  })

  it('are all counted across replicas', async () => {
    const parents = [await open(), await open()].map(({ id }) => id)
    const [left = '', right = ''] = parents
    const ids = (await Promise.all(Array.from({ length: 12 }, (_, at) => open(parents[at % 2])))).map(
      ({ id }) => id,
    )
    const replicas = Array.from({ length: 3 }, () => {
      const ctx = { ...desk.ctx, store: createEventStore({ database: desk.ctx.database }) }
      return { ctx, incidents: incidentStore(ctx, { settings: settingsStore(ctx), people: uncheckedPeople }) }
    })
    const moves = ids.flatMap((id) =>
      replicas.map(({ ctx, incidents }, at) => {
        const parentId = [left, right, null][at] ?? null
        const command = { kind: 'patch', by: agent, settings, patch: { parentId }, now } as const
        return patchIncident(ctx, incidents, id, command, desk.meta(tenant))
      }),
    )
    const openings = replicas.flatMap(({ ctx, incidents }) =>
      parents.map((parentId) =>
        openIncident(ctx, incidents, { ...create.input, parentId }, desk.meta(tenant)),
      ),
    )
    const outcomes = await Promise.allSettled([...moves, ...openings])
    // A client that loses too many races is asked to retry; no other error may occur.
    for (const outcome of outcomes)
      if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ code: 'version_conflict' })
    expect(outcomes.some(({ status }) => status === 'fulfilled')).toBe(true)
    for (const id of parents) expect(await countOf(id)).toBe(await childrenIn(id))
  })

  it('never create two levels of parents', async () => {
    for (let round = 0; round < 10; round++) {
      const [first, second] = [await open(), await open()]
      const outcomes = await Promise.allSettled([
        patch(first.id, { parentId: second.id }),
        patch(second.id, { parentId: first.id }),
      ])
      expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected'])
      const family = [await get(first.id), await get(second.id)]
      expect(family.map(({ childCount }) => childCount).toSorted()).toEqual([0, 1])
      for (const { parentId, childCount } of family) expect(parentId === null).toBe(childCount === 1)
    }
  })
})

it('checks If-Match against the child, not the parent', async () => {
  const [low, child, high] = [await open(), await open(), await open()]
  expect((await refusal(patch(child.id, { parentId: low.id }, 9)))[0]).toBe('precondition_failed')
  await patch(child.id, { parentId: low.id }, 1)
  await patch(child.id, { parentId: high.id }, 2)
  expect([await countOf(low.id), await countOf(high.id)]).toEqual([0, 1])
  expect((await refusal(patch(child.id, { parentId: null }, 2)))[0]).toBe('precondition_failed')
  expect((await get(child.id)).createdBy).toEqual(agent)
})
