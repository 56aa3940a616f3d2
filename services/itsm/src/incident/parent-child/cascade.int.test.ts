import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { IncidentState, PlatformEvent, systemActor } from '@opsplane/contracts'
import { productionTenant, type TestDesk, testDesk } from '../desk.fixture.js'
import type { IncidentStep } from '../steps.js'
import { createCascade } from './cascade.js'

let settings: TestDesk
beforeAll(async () => {
  settings = await testDesk()
})
afterAll(() => settings?.close())

const tenant = productionTenant()
const now = '2026-03-02T10:00:00.000Z'
const act = (id: string, ...steps: IncidentStep[]) =>
  steps.reduce<Promise<unknown>>(
    (before, step) =>
      before.then(() => settings.incidents.handle(id, { ...step, now }, settings.meta(tenant))),
    Promise.resolve(),
  )
const get = (id: string) => settings.incidents.get(id, tenant)
const cascade = () => createCascade(settings.ctx, settings.incidents)

/** The events of an incident as received from the stream, oldest first. */
async function eventsOf(id: string): Promise<PlatformEvent[]> {
  const rows = await settings.ctx.database.sql`select * from events where stream_id = ${id} order by version`
  return rows.map((row) =>
    PlatformEvent.parse({
      ...row,
      workspaceId: row.workspace_id,
      createdAt: new Date(row.created_at).toISOString(),
      requestId: row.request_id,
      causationId: row.causation_id,
    }),
  )
}
const deliver = async (id: string) => cascade().handle(await eventsOf(id))
/** Counts the events of each type of the incidents since they were opened. */
async function reported(ids: readonly string[]): Promise<Record<string, number>> {
  const rows = await settings.ctx.database.sql<{ type: string; count: number }[]>`
    select type, count(*)::int from events where stream_id = any(${[...ids]}::text[]) and version > 1
    group by type`
  return Object.fromEntries(rows.map(({ type, count }) => [type, count]))
}
async function family(children = 1) {
  const parent = (await settings.open(tenant)).id
  const ids: string[] = []
  for (let opened = 0; opened < children; opened++) ids.push((await settings.open(tenant, parent)).id)
  return { parent, ids, child: ids[0] ?? '' }
}

const start = { kind: 'start' } as const
const hold = { kind: 'hold', holdReason: 'awaiting_vendor' } as const
const resume = { kind: 'resume' } as const
const resolve = { kind: 'resolve', resolutionCode: 'fixed', resolutionNotes: 'Raised the limit.' } as const

describe('children of an incident', () => {
  it('follow their parent through work, hold, resolution and reopening, but not closing', async () => {
    const { parent, child } = await family()
    const after = async (step: IncidentStep) => {
      await act(parent, step)
      await deliver(parent)
      const { status, followsParent } = await get(child)
      return [status, followsParent]
    }
    expect(await after(start)).toEqual(['in_progress', false])
    expect(await after(hold)).toEqual(['on_hold', true])
    expect(await after(resume)).toEqual(['in_progress', false])
    expect(await after(resolve)).toEqual(['resolved', true])
    expect(await get(child)).toMatchObject({
      resolutionCode: 'fixed',
      resolutionNotes: 'Raised the limit.',
    })
    expect(await after({ kind: 'reopen', to: 'open' })).toEqual(['open', false])
    expect(await after(resolve)).toEqual(['resolved', true])
    expect(await after({ kind: 'close' })).toEqual(['resolved', true])
  })

  it('change as the system actor, with the event of the parent as the cause', async () => {
    const { parent, child } = await family()
    await act(parent, resolve)
    await deliver(parent)
    const cause = (await eventsOf(parent)).at(-1)
    expect((await eventsOf(child)).at(-1)).toMatchObject({
      type: 'incident.resolved',
      actor: systemActor,
      workspaceId: tenant.workspaceId,
      causationId: cause?.id,
      data: { cause: 'parent' },
    })
  })

  it("ignore a parent's hold for its caller, its cancellation and its comments", async () => {
    const { parent, child } = await family()
    await act(parent, { kind: 'hold', holdReason: 'awaiting_caller' })
    await deliver(parent)
    expect((await get(child)).status).toBe('open')
    await act(parent, { kind: 'cancel' })
    await deliver(parent)
    expect(await reported([child])).toEqual({})
  })

  it('adopt the hold reason of their parent, and each change of it', async () => {
    const { parent, child } = await family()
    const own = (await settings.open(tenant, parent)).id
    await act(own, { kind: 'hold', holdReason: 'awaiting_caller' })
    const waitsFor = async (holdReason: 'awaiting_caller' | 'awaiting_change' | 'awaiting_vendor') => {
      await act(parent, { kind: 'edit', fields: { holdReason } })
      await deliver(parent)
      const { status, holdReason: reason, followsParent } = await get(child)
      return [status, reason, followsParent]
    }
    await act(parent, start, { kind: 'hold', holdReason: 'awaiting_caller' })
    await deliver(parent)
    expect((await get(child)).status).toBe('in_progress')
    expect(await waitsFor('awaiting_vendor')).toEqual(['on_hold', 'awaiting_vendor', true])
    expect(await waitsFor('awaiting_change')).toEqual(['on_hold', 'awaiting_change', true])
    expect(await waitsFor('awaiting_caller')).toEqual(['on_hold', 'awaiting_change', true])
    expect((await get(own)).holdReason).toBe('awaiting_caller')
    await act(parent, resume)
    await deliver(parent)
    expect([(await get(child)).status, (await get(own)).status]).toEqual(['in_progress', 'on_hold'])
  })

  it('on hold for their caller are resolved with the parent, but otherwise keep waiting', async () => {
    const { parent, child } = await family()
    await act(child, { kind: 'hold', holdReason: 'awaiting_caller' })
    await act(parent, start, hold, resume)
    await deliver(parent)
    expect(await get(child)).toMatchObject({ status: 'on_hold', holdReason: 'awaiting_caller' })
    await act(parent, resolve)
    await deliver(parent)
    expect(await get(child)).toMatchObject({ status: 'resolved', followsParent: true })
  })

  it('keep statuses they reached on their own', async () => {
    const { parent, ids } = await family(4)
    const [solved = '', closed = '', canceled = '', usual = ''] = ids
    await act(solved, { kind: 'resolve', resolutionCode: 'user_error' })
    await act(closed, resolve, { kind: 'close' })
    await act(canceled, { kind: 'cancel' })
    await act(parent, resolve)
    await deliver(parent)
    expect(await get(solved)).toMatchObject({ resolutionCode: 'user_error', followsParent: false })
    await act(parent, { kind: 'reopen' })
    await deliver(parent)
    const statuses = await Promise.all(
      [solved, closed, canceled, usual].map(async (id) => (await get(id)).status),
    )
    expect(statuses).toEqual(['resolved', 'closed', 'canceled', 'in_progress'])
  })

  it('that were resolved with the parent and then closed by a person stay closed', async () => {
    const { parent, child } = await family()
    await act(parent, resolve)
    await deliver(parent)
    await act(child, { kind: 'close' })
    await act(parent, { kind: 'reopen' })
    await deliver(parent)
    expect((await get(child)).status).toBe('closed')
  })

  it('that were detached no longer follow the parent', async () => {
    const { parent, child } = await family()
    await act(parent, resolve)
    await deliver(parent)
    await settings.patch(tenant, child, { parentId: null })
    await act(parent, { kind: 'reopen' })
    await deliver(parent)
    expect(await get(child)).toMatchObject({ status: 'resolved', followsParent: false })
  })
})

it('a child that cannot be reopened because of its dedupKey does not block the other children', async () => {
  const { parent } = await family(0)
  const kept = await settings.open(tenant, parent, { dedupKey: 'checkout' })
  const ids = [(await settings.open(tenant, parent)).id, kept.id, (await settings.open(tenant, parent)).id]
  await act(parent, resolve)
  await deliver(parent)
  const other = await settings.open(tenant, null, { dedupKey: 'checkout' })
  expect(other.id).not.toBe(kept.id)
  await act(parent, { kind: 'reopen' })
  await deliver(parent)
  const statuses = await Promise.all(ids.map(async (id) => (await get(id)).status))
  expect(statuses).toEqual(['in_progress', 'resolved', 'in_progress'])
})

describe('a late event of the parent', () => {
  it('does not affect children that were attached or reopened after it', async () => {
    const { parent, child } = await family()
    await act(parent, resolve)
    const late = await settings.open(tenant, parent)
    await act(child, resolve, { kind: 'reopen' })
    await deliver(parent)
    expect(await reported([child, late.id])).toEqual({ 'incident.resolved': 1, 'incident.reopened': 1 })
    expect((await get(late.id)).status).toBe('open')
  })

  it('that is handled out of order leads to the current status of the parent', async () => {
    const { parent, child } = await family()
    await act(parent, start, hold, resume, resolve)
    const events = await eventsOf(parent)
    for (const event of events.toReversed()) await cascade().handle([event])
    expect(await get(child)).toMatchObject({ status: 'resolved', followsParent: true })
    expect(await reported([child])).toEqual({ 'incident.resolved': 1 })
  })

  it('applies both reopening and hold if the parent was reopened and held in the meantime', async () => {
    const { parent, child } = await family()
    await act(parent, resolve)
    await deliver(parent)
    await act(parent, { kind: 'reopen' }, hold)
    await deliver(parent)
    expect(await get(child)).toMatchObject({ status: 'on_hold', followsParent: true, reopenCount: 1 })
  })
})

describe('three hundred children of an incident', () => {
  it('follow exactly once each, despite a crash, concurrent redelivery and edits by people', async () => {
    const count = 300
    const { parent, ids } = await family(count)
    await act(parent, resolve)
    const events = (await eventsOf(parent)).filter(({ type }) => type === 'incident.resolved')

    // The process is killed after the first batch, so the event is redelivered.
    let begun = 0
    const sql = new Proxy(settings.ctx.database.sql, {
      get: (target, name, receiver) => {
        if (name === 'begin' && begun++ > 0) throw new Error('killed')
        return Reflect.get(target, name, receiver)
      },
    })
    const dying = createCascade(
      { ...settings.ctx, database: { ...settings.ctx.database, sql } },
      settings.incidents,
    )
    await expect(dying.handle(events)).rejects.toThrow('killed')
    const first = (await reported(ids))['incident.resolved'] ?? 0
    expect(first).toBeGreaterThan(0)
    expect(first).toBeLessThan(count)

    await Promise.all([
      cascade().handle(events),
      cascade().handle(events),
      ...ids.slice(-20).map((id) => act(id, { kind: 'edit', fields: { title: 'Changed meanwhile' } })),
    ])
    await cascade().handle(events)
    expect((await reported(ids))['incident.resolved']).toBe(count)
    const rows = await settings.ctx.database.sql`select state from incidents where id = any(${ids}::text[])`
    for (const { state } of rows)
      expect(IncidentState.parse(state)).toMatchObject({ status: 'resolved', followsParent: true })
  })
})
