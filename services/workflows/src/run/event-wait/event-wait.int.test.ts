import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { newId, type PlatformEvent, RunDetail, systemActor } from '@opsplane/contracts'
import { startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import { type Definition, type RunService, runService } from '../../fixture/run-service.js'
import { findAffectedWorkflows } from '../../trigger/active-workflows.js'
import { deleteRecentEvents } from '../retention/related-rows.js'
import type { Runs } from '../runs.js'
import { type AcceptedEvent, type LogPositions, listEventKeys } from './accepted-event.js'
import { storeAwaitedEvents } from './recent-events.js'

let fixture: RunService
let service: TestService
let runs: Runs
/** Log positions for runs that do not specify them. */
let ends: LogPositions = {}

beforeAll(async () => {
  fixture = runService({ logEnds: async () => ends })
  service = await startTestService(fixture.service)
  const [first] = fixture.replicas
  if (!first) throw new Error('no replica has started')
  runs = first
})
afterAll(() => service?.stop())

let position = 100

/** The next event in the log of another service. */
function resolved(incident: { id: string }, source = 'itsm'): AcceptedEvent {
  const event: PlatformEvent = {
    ...{ id: newId('event'), type: 'incident.resolved', ...fixture.tenant, version: 1, actor: systemActor },
    ...{ createdAt: new Date().toISOString(), requestId: null, causationId: null, source: null },
    resource: { type: 'incident', id: incident.id, displayName: 'It' },
    data: { before: null, after: incident, changes: ['id'] },
  }
  return { event, source, position: ++position }
}

/** Handles a batch like the consumer. */
async function consume(...accepted: AcceptedEvent[]) {
  const { awaitedKeys } = await findAffectedWorkflows(
    service,
    new Set(accepted.flatMap(({ event }) => listEventKeys(event))),
  )
  const awaited = await storeAwaitedEvents(service.sql, accepted, awaitedKeys)
  await runs.deliver(awaited)
  return awaited.length
}

/** Inserts a version that waits for these events, as publishing would. */
async function waitable(...types: string[]) {
  const { workspaceId, environment } = fixture.tenant
  const keys = types.map((type) => `${workspaceId}/${environment}/${type}`)
  await service.sql`insert into workflow_versions (id, workspace_id, environment, version, state)
    values (${newId('workflow')}, ${workspaceId}, ${environment}, 1, ${JSON.stringify({ number: 1, awaitedKeys: keys })}::text::json)`
}

const wait = (id: string, filter?: Record<string, string>) =>
  ({ id, type: 'wait', event: { types: ['incident.*'], ...(filter && { filter }) } }) as const
const pause = { id: 'pause', type: 'approval', title: 'Go?', approvers: { users: ['usr_1'] } } as const
const start = async (definition: Definition, since?: LogPositions) =>
  (await runs.start(fixture.define(definition)(since ? { since } : {}))).runId
const ended = (runId: string) => runs.waitForEnd(runId, 60_000)
const statusOf = async (runId: string) => {
  const api = service.as(testPrincipal({ workspaceId: fixture.tenant.workspaceId }))
  return (await api.get(`/runs/${runId}`)).data(RunDetail).status
}
const reached = (runId: string, status: string) =>
  waitFor(async () => {
    expect(await statusOf(runId)).toBe(status)
    return true
  })
/** Approves the approval at which a run is paused. */
async function goOn(runId: string) {
  const ada = testPrincipal({ workspaceId: fixture.tenant.workspaceId, userId: 'usr_1' })
  const answer = await service.as(ada).post(`/runs/${runId}/resume`, { decision: 'approve' })
  expect(answer.status).toBe(200)
}

test('an event that no version waits for is not stored', async () => {
  expect(await consume(resolved({ id: 'inc_0' }))).toBe(0)
  expect(await service.sql`select 1 from recent_events`).toHaveLength(0)
})

test('an event is delivered only to the run that waits for it', async () => {
  await waitable('incident.*')
  const [mine, others] = [
    await start({ steps: [wait('answer', { 'data.id': 'inc_1' })] }),
    await start({ steps: [wait('answer', { 'data.id': 'inc_2' })] }),
  ]
  await reached(mine, 'waiting')
  await reached(others, 'waiting')
  await consume(resolved({ id: 'inc_1' }))
  expect(await ended(mine)).toMatchObject({
    status: 'completed',
    output: { event: 'incident.resolved', data: { id: 'inc_1' } },
  })
  expect(await statusOf(others)).toBe('waiting')
})

describe('an event accepted before a step starts to wait', () => {
  test('is found if it was accepted after the run started, and not if it was accepted before', async () => {
    const before = resolved({ id: 'inc_3' })
    ends = { itsm: position }
    const runId = await start({ steps: [pause, wait('answer', { 'data.id': 'inc_3' })] })
    ends = {}
    await reached(runId, 'paused')
    const after = resolved({ id: 'inc_3' })
    await consume(before, after)
    await consume(after)
    await goOn(runId)
    expect(await ended(runId)).toMatchObject({ output: { id: after.event.id } })
  })

  test('is compared with the start of the run by its position in each log, in any order of arrival', async () => {
    const [own, late] = [resolved({ id: 'inc_4' }), resolved({ id: 'inc_4' })]
    const other = resolved({ id: 'inc_4' }, 'settings')
    const since = { itsm: own.position ?? 0, settings: other.position ?? 0 }
    const runId = await start({ steps: [pause, wait('answer', { 'data.id': 'inc_4' })] }, since)
    await reached(runId, 'paused')
    await consume(other, late, own)
    await goOn(runId)
    expect(await ended(runId)).toMatchObject({ output: { id: late.event.id } })
  })

  test('is found among many others, and by a step inside a for_each and a branch', async () => {
    const inner = wait('answer', { 'data.id': 'inc_5' })
    const branch = { id: 'if', type: 'branch', if: '{{ true }}', then: [inner] }
    const each = { id: 'each', type: 'for_each', items: '{{ [1, 2] }}', steps: [branch] }
    const runId = await start({ steps: [pause, each] }, { itsm: position })
    await reached(runId, 'paused')
    const many = Array.from({ length: 250 }, (_, n) => resolved({ id: `inc_many_${n}` }))
    const [first, second] = [resolved({ id: 'inc_5' }), resolved({ id: 'inc_5' })]
    await consume(...many, first)
    await consume(second)
    await goOn(runId)
    const { output } = (await ended(runId)) as { output: { id: string }[] }
    expect(output.map(({ id }) => id)).toEqual([first.event.id, second.event.id])
  })
})

test('steps of a run that wait for the same events receive one event each', async () => {
  const branches = ['a', 'b', 'c'].map((name) => ({ name, steps: [wait(name, { 'data.id': 'inc_6' })] }))
  const runId = await start({ steps: [pause, { id: 'all', type: 'parallel', branches }] }, { itsm: position })
  await reached(runId, 'paused')
  const early = [resolved({ id: 'inc_6' }), resolved({ id: 'inc_6' })]
  await consume(...early)
  await goOn(runId)
  await waitFor(async () => {
    const [row] =
      await service.sql`select count(*)::int as count from run_event_waits where run_id = ${runId}`
    expect(row).toEqual({ count: 1 })
    return true
  })
  const last = resolved({ id: 'inc_6' })
  await consume(last)
  const { output } = (await ended(runId)) as { output: Record<string, { id: string }> }
  const got = Object.values(output).map(({ id }) => id)
  expect(got.sort()).toEqual([...early, last].map(({ event }) => event.id).sort())
})

test('events that arrive while steps start to wait are delivered exactly once', async () => {
  const steps = [1, 2, 3].map((n) => wait(`answer_${n}`, { 'data.id': 'inc_7' }))
  const define = fixture.define({ steps, output: steps.map(({ id }) => `{{ steps.${id}.output.id }}`) })
  const ids = await Promise.all(
    Array.from({ length: 20 }, async () => (await runs.start(define({ since: { itsm: position } }))).runId),
  )
  const events = [1, 2, 3].map(() => resolved({ id: 'inc_7' }))
  for (const event of events) await consume(event)
  const expected = events.map(({ event }) => event.id).sort()
  for (const id of ids) {
    const { output } = (await ended(id)) as { output: string[] }
    expect([...output].sort()).toEqual(expected)
  }
})

test('events are stored as long as a run may wait for them', async () => {
  const { sql } = service
  const expire = () => deleteRecentEvents(sql, Date.now(), new AbortController().signal)
  const left = async () => (await sql`select 1 from recent_events`).length
  const runId = await start({ steps: [pause, wait('answer')] }, { itsm: position })
  await reached(runId, 'paused')
  await consume(resolved({ id: 'inc_8' }))
  await sql`update runs set ended_at = now() where id <> ${runId}`
  await sql`update recent_events set kept_at = now() - interval '2 hours'`
  await sql`update runs set queued_at = now() - interval '3 hours' where id = ${runId}`
  await expire()
  expect(await left()).toBeGreaterThan(0)
  await sql`update runs set queued_at = now() where id = ${runId}`
  await expire()
  expect(await left()).toBe(0)
})
