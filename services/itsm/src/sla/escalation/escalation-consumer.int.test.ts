import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals'
import {
  type IncidentPatch,
  NewSlaPolicy,
  newId,
  PlatformEvent,
  systemActor,
  type TenantScope,
} from '@opsplane/contracts'
import { createEventStore } from '@opsplane/eventstore'
import { attemptDueWork } from '@opsplane/postgres'
import { createLogger } from '@opsplane/runtime'
import type { z } from 'zod'
import { productionTenant, type TestDesk, testDesk } from '../../incident/desk.fixture.js'
import { agent, comment } from '../../incident/sample-incidents.fixture.js'
import { maxWatchers } from '../../incident/watchers.js'
import { createPinnedPolicies } from '../policy/pinned-policies.js'
import { createClocks } from '../timer/clocks.js'
import { slaStores } from '../timer/stores.js'
import { createEscalationConsumer, type EscalationContext } from './escalation-consumer.js'

const opened = '2026-03-02T09:00:00.000Z'
const log = createLogger({ service: 'test', level: 'silent' })
type Rules = NonNullable<z.input<typeof NewSlaPolicy>['escalations']>

let desk: TestDesk
let tenant: TenantScope
beforeAll(async () => {
  desk = await testDesk()
})
beforeEach(() => {
  tenant = productionTenant()
  desk.setTime(opened)
})
afterAll(() => desk?.close())

const context = (): EscalationContext => ({ ...desk.ctx, log })
const clocks = () => createClocks(context())
const escalating = (ctx = context()) =>
  createEscalationConsumer(ctx, createPinnedPolicies(), desk.incidents.getSettings)

/** Creates a policy with a goal of one hour for every incident of the workspace. */
async function promise(
  escalations: Rules,
  of = tenant,
  metric: 'resolution' | 'next_response' = 'resolution',
): Promise<string> {
  const given = {
    name: 'Gold',
    metric,
    goalsBy: 'all',
    goals: { all: 60 },
    escalations,
  } as const
  const id = newId('slaPolicy')
  const input = NewSlaPolicy.parse(given)
  const command = { kind: 'create', id, input, calendar: null, now: opened } as const
  await slaStores(desk.ctx.store).policies.create(id, command, desk.meta(of))
  return id
}
async function openIncident(fields: object = {}, of = tenant): Promise<string> {
  const { id } = await desk.open(of, null, { severity: 'low', ...fields })
  await clocks().apply([id])
  return id
}
/** Makes the clocks report everything due by this minute of the hour. No consumer has handled the reports yet. */
async function reach(minute: number) {
  desk.setTime(new Date(Date.parse(opened) + minute * 60_000 + 2_000).toISOString())
  const { database, clock } = desk.ctx
  await attemptDueWork(clocks().worker, { sql: database.sql, log, simulated: clock })
}
const get = (id: string, of = tenant) => desk.incidents.get(id, of)
const edit = (id: string, patch: IncidentPatch) => desk.patch(tenant, id, patch)

async function eventsWhere(column: 'stream_id' | 'workspace_id', value: string): Promise<PlatformEvent[]> {
  const { sql } = desk.ctx.database
  const rows = await sql`select * from events where ${sql(column)} = ${value} order by position`
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
/** The reports of the workspace's clocks, as delivered by the stream. */
const reported = async (of = tenant) =>
  (await eventsWhere('workspace_id', of.workspaceId)).filter(({ type }) =>
    ['sla.warning', 'sla.breached'].includes(type),
  )
const deliver = async (ctx?: EscalationContext) => escalating(ctx).handle(await reported())
/** The events of an incident that were caused by rules. */
const byRules = async (id: string) =>
  (await eventsWhere('stream_id', id)).filter(({ data }) => data.cause === 'sla')
const typesOf = async (id: string) => (await byRules(id)).map(({ type }) => type)

describe('an escalation rule', () => {
  it('is applied when its threshold is reported, by the system actor and with a reason', async () => {
    const policyId = await promise([
      { atPercent: 50, watcherIds: ['usr_one', 'usr_two'] },
      { atPercent: 75, assignmentGroup: 'duty', assigneeId: 'usr_lead' },
      { atPercent: 90, severity: 'high' },
      { atPercent: 100, escalateTo: 'usr_boss' },
    ])
    const id = await openIncident({ watcherIds: ['usr_one'] })
    await deliver()
    expect(await typesOf(id)).toEqual([])

    await reach(30)
    await deliver()
    expect(await get(id)).toMatchObject({
      watcherIds: ['usr_one', 'usr_two'],
      assigneeId: null,
      status: 'open',
    })
    await reach(45)
    await deliver()
    expect(await get(id)).toMatchObject({
      assignmentGroup: 'duty',
      assigneeId: 'usr_lead',
      status: 'in_progress',
    })
    await reach(54)
    await deliver()
    expect(await get(id)).toMatchObject({ severity: 'high', escalationLevel: 2 })
    await reach(60)
    await deliver()
    expect(await get(id)).toMatchObject({
      escalationLevel: 3,
      watcherIds: ['usr_one', 'usr_two', 'usr_boss'],
    })

    const firings = await reported()
    const timerId = firings[0]?.resource.id
    const because = (firing: number, percent: number, data: object = {}) => ({
      actor: systemActor,
      causationId: firings[firing]?.id,
      data: { cause: 'sla', sla: { timerId, policyId, policyName: 'Gold', percent }, ...data },
    })
    const used = (percent: number) => `SLA Gold: ${percent} % of the time for its resolution is used up.`
    expect(await byRules(id)).toMatchObject([
      { type: 'incident.updated', ...because(0, 50) },
      { type: 'incident.escalated', ...because(1, 75, { causes: ['group_reassigned'], reason: used(75) }) },
      { type: 'incident.assigned', ...because(1, 75) },
      { type: 'incident.escalated', ...because(2, 90, { causes: ['severity_raised'], reason: used(90) }) },
      {
        type: 'incident.escalated',
        ...because(3, 100, {
          causes: ['raised_to_person'],
          escalatedTo: 'usr_boss',
          level: 3,
          reason: 'SLA Gold: the goal for its resolution was missed.',
        }),
      },
    ])
  })

  it('has no effect on an incident that meets it already, and none on a later redelivery', async () => {
    await promise([
      {
        atPercent: 50,
        severity: 'high',
        assignmentGroup: 'duty',
        assigneeId: 'usr_lead',
        watcherIds: ['usr_one'],
      },
    ])
    const there = {
      severity: 'critical',
      assignmentGroup: 'duty',
      assigneeId: 'usr_lead',
      watcherIds: ['usr_one'],
    }
    const id = await openIncident(there)
    await reach(30)
    const before = await get(id)
    await deliver()
    expect(await get(id)).toEqual(before)
    await edit(id, { severity: 'low', assigneeId: null, watcherIds: [] })
    const after = await get(id)
    await deliver()
    expect(await get(id)).toEqual(after)
  })

  it('is applied after an earlier rule of the same threshold, in one commit', async () => {
    await promise([
      { atPercent: 50, severity: 'high', assigneeId: 'usr_first' },
      { atPercent: 50, severity: 'critical', assigneeId: 'usr_second' },
    ])
    const id = await openIncident()
    await reach(30)
    await deliver()
    expect(await get(id)).toMatchObject({ severity: 'critical', assigneeId: 'usr_second' })
    expect(await typesOf(id)).toEqual([
      'incident.escalated',
      'incident.assigned',
      'incident.escalated',
      'incident.assigned',
    ])
  })

  it('is not applied to an incident that has ended, even after it is reopened', async () => {
    await promise([{ atPercent: 50, assigneeId: 'usr_lead' }])
    const [resolved, canceled] = [await openIncident(), await openIncident()]
    await reach(30)
    await edit(resolved, { status: 'resolved', resolutionCode: 'fixed', resolutionNotes: 'Done.' })
    await edit(canceled, { status: 'canceled' })
    await deliver()
    await edit(resolved, { status: 'in_progress' })
    await deliver()
    expect([await typesOf(resolved), await typesOf(canceled)]).toEqual([[], []])
    expect((await get(resolved)).assigneeId).toBeNull()
  })

  it('of a clock that has ended is not applied', async () => {
    const policyId = await promise([{ atPercent: 50, assigneeId: 'usr_lead' }])
    const id = await openIncident({ category: 'vip' })
    const conditions = { category: 'vip' }
    const command = { kind: 'patch', patch: { conditions }, calendar: null, now: opened } as const
    await slaStores(desk.ctx.store).policies.handle(policyId, command, desk.meta(tenant))
    const later = await openIncident({ category: 'vip' })
    await reach(30)
    for (const one of [id, later]) {
      await edit(one, { category: 'office' })
      await clocks().apply([one])
    }
    await deliver()
    // The first clock is pinned to the revision without conditions, so it keeps counting.
    expect([await typesOf(id), await typesOf(later)]).toEqual([['incident.assigned'], []])
  })

  it('applies its other changes if the incident has the maximum number of watchers', async () => {
    await promise([{ atPercent: 50, severity: 'critical', escalateTo: 'usr_boss', watcherIds: ['usr_one'] }])
    const watcherIds = Array.from({ length: maxWatchers }, (_, one) => `usr_${one}`)
    const id = await openIncident({ watcherIds })
    await reach(30)
    await deliver()
    expect(await get(id)).toMatchObject({ severity: 'critical', watcherIds })
  })

  it('of one workspace does not change the incidents of another', async () => {
    await promise([{ atPercent: 50, severity: 'critical' }])
    const other = productionTenant()
    await promise([], other)
    const [mine, theirs] = [await openIncident(), await openIncident({}, other)]
    await reach(30)
    const before = await get(theirs, other)
    const asIfTheirs = (await reported()).map((event) => ({ ...event, workspaceId: other.workspaceId }))
    await escalating().handle([...asIfTheirs, ...(await reported(other))])
    expect([await typesOf(mine), await get(theirs, other)]).toEqual([[], before])
    await deliver()
    expect(await typesOf(mine)).toEqual(['incident.escalated'])
  })

  it('is absent in policy revisions from before rules existed', async () => {
    await promise([{ atPercent: 50, severity: 'critical' }])
    for (const table of ['sla_policies', 'sla_policy_revisions'])
      await desk.ctx.database.sql.unsafe(
        `update ${table} set state = (state::jsonb - 'escalations')::json where workspace_id = $1`,
        [tenant.workspaceId],
      )
    const id = await openIncident()
    await reach(60)
    await deliver()
    expect([(await reported()).length, await typesOf(id)]).toEqual([4, []])
  })
})

it('applies rules once per span of a recurring clock, and not for a past span', async () => {
  await promise([{ atPercent: 50, escalateTo: 'usr_boss' }], tenant, 'next_response')
  const id = await openIncident({ callerId: 'usr_caller' })
  const says = async (minute: number, userId: string) => {
    desk.setTime(new Date(Date.parse(opened) + minute * 60_000).toISOString())
    const { now } = desk.meta(tenant)
    const by = { id: newId('comment'), incidentId: id, author: { ...agent, id: userId }, userId }
    const said = { ...comment, ...by, createdAt: now, updatedAt: now }
    await desk.incidents.handle(id, { kind: 'comment', comment: said, now }, desk.meta(tenant))
    await clocks().apply([id])
  }
  const escalated = async () => (await typesOf(id)).length
  await says(0, 'usr_caller')
  await reach(30)
  await deliver()
  expect(await escalated()).toBe(1)
  await says(35, 'usr_agent')
  await says(40, 'usr_caller')
  await reach(70)
  await deliver()
  await deliver()
  expect(await escalated()).toBe(2)
  await says(75, 'usr_agent')
  await says(80, 'usr_caller')
  await reach(110)
  await says(115, 'usr_agent')
  await says(120, 'usr_caller')
  // Until now, the third warning has not been handled.
  await deliver()
  expect([(await reported()).length, await escalated()]).toEqual([3, 2])
  const [first] = await byRules(id)
  expect(first?.data.reason).toBe('SLA Gold: 50 % of the time for its next response is used up.')
})

describe('escalation rules are applied exactly once', () => {
  const rules: Rules = [
    { atPercent: 50, assigneeId: 'usr_lead' },
    { atPercent: 90, escalateTo: 'usr_boss' },
    { atPercent: 100, escalateTo: 'usr_ceo' },
  ]
  const once = ['incident.assigned', 'incident.escalated', 'incident.escalated']

  it('when events are late, repeated, out of order or concurrent on several replicas', async () => {
    await promise(rules)
    const id = await openIncident()
    await reach(90)
    const events = await reported()
    expect(events).toHaveLength(4)
    await escalating().handle(events.slice(-1))
    expect(await typesOf(id)).toEqual(once)
    await Promise.all([deliver(), deliver(), deliver()])
    for (const event of events.toReversed()) await escalating().handle([event])
    expect(await typesOf(id)).toEqual(once)
  })

  it('when several replicas start concurrently', async () => {
    await promise(rules)
    const ids = [await openIncident(), await openIncident(), await openIncident()]
    await reach(90)
    await Promise.all([deliver(), deliver(), deliver()])
    for (const id of ids) expect(await typesOf(id)).toEqual(once)
  })

  it('after a crash between the change of the incident and its commit', async () => {
    await promise(rules)
    const id = await openIncident()
    await reach(90)
    const before = await get(id)
    const { within } = desk.ctx.store
    const dying: EscalationContext['store'] = {
      ...desk.ctx.store,
      async within(...given) {
        await within(...given)
        throw new Error('killed')
      },
    }
    await expect(deliver({ ...context(), store: dying })).rejects.toThrow('killed')
    expect(await get(id)).toEqual(before)
    await deliver()
    expect(await typesOf(id)).toEqual(once)
  })

  it('after a crash following the commit', async () => {
    await promise(rules)
    const id = await openIncident()
    await reach(90)
    const store = createEventStore({
      database: desk.ctx.database,
      onCommitWithin() {
        throw new Error('killed')
      },
    })
    await expect(deliver({ ...context(), store })).rejects.toThrow('killed')
    expect(await typesOf(id)).toEqual(once)
    await deliver()
    expect(await typesOf(id)).toEqual(once)
  })

  it('when the incident is changed concurrently, without losing either change', async () => {
    await promise([{ atPercent: 50, severity: 'high', assigneeId: 'usr_lead', watcherIds: ['usr_one'] }])
    const id = await openIncident()
    await reach(30)
    const { within } = desk.ctx.store
    const patches: IncidentPatch[] = [
      { title: 'Payments fail', watcherIds: ['usr_two'] },
      { severity: 'critical' },
    ]
    const raced: EscalationContext['store'] = {
      ...desk.ctx.store,
      within: (tx, meta, work) =>
        within(tx, meta, async (unit) => {
          const result = await work(unit)
          const patch = patches.shift()
          if (patch) await edit(id, patch)
          return result
        }),
    }
    await deliver({ ...context(), store: raced })
    expect(patches).toEqual([])
    expect(await get(id)).toMatchObject({
      title: 'Payments fail',
      severity: 'critical',
      assigneeId: 'usr_lead',
      watcherIds: ['usr_two', 'usr_one'],
    })
    expect(await typesOf(id)).toEqual(['incident.assigned', 'incident.updated'])
  })
})
