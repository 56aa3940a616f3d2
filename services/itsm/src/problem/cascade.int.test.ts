import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import { Incident, IncidentComment, Problem } from '@opsplane/contracts'
import { connectNats, type NatsLink } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import {
  type ApiClient,
  addHeads,
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
import { itsm } from '../service.js'

let service: TestService
let recorder: EventRecorder
let link: NatsLink
let api: ApiClient

beforeAll(async () => {
  service = await startTestService(itsm)
  recorder = await recordEvents(service.natsPrefix)
  link = connectNats({
    url: testNatsUrl(),
    name: 'test',
    log: createLogger({ service: 'test', level: 'silent' }),
  })
  api = service.as(testPrincipal())
})
afterAll(async () => {
  await link?.close()
  await recorder?.stop()
  await service?.stop()
})

const post = (path: string, body?: object) => api.post(path, body)
const act = async ({ id }: Problem, action: string, body?: object): Promise<Problem> =>
  (await post(`/itsm/problems/${id}/${action}`, body)).data(Problem)
const incidentOf = async (id: string) => (await api.get(`/itsm/incidents/${id}`)).data(Incident)
const notesOf = async (id: string) =>
  (await api.get(`/itsm/incidents/${id}/comments`)).page(IncidentComment).items

/** A problem with a root cause, with its fix in progress. */
async function fixing(): Promise<Problem> {
  const created = await post('/itsm/problems', { title: 'Connections leak', rootCause: 'The pool.' })
  const problem = created.data(Problem)
  for (const action of ['assess', 'analyze', 'fix']) await act(problem, action)
  return problem
}

async function linked(problem: Problem, holdReason?: string): Promise<Incident> {
  const { id } = (await post('/itsm/incidents', { title: 'Checkout answers 502' })).data(Incident)
  await post(`/itsm/problems/${problem.id}/incidents`, { incidentId: id })
  if (holdReason !== undefined) await api.patch(`/itsm/incidents/${id}`, { status: 'on_hold', holdReason })
  return incidentOf(id)
}

const eventOf = (problem: Problem, type: string) =>
  waitFor(() =>
    recorder.published.find(({ event }) => event.resource.id === problem.id && event.type === type),
  )

/**
 * Waits until all holds so far are handled. A hold handled after
 * its problem has ended would resume the incident by itself.
 */
const holdsApplied = () => waitUntilSettled(service)

/** Publishes an event to the stream again. */
async function storeAgain({ subject, event }: EventRecorder['published'][number]) {
  const connection = await link.ready()
  await connection.request(subject, JSON.stringify(event), {
    timeout: 30_000,
    headers: signedHeaders({ subject, body: JSON.stringify(event) }),
  })
}

/** Publishes an event of a problem again and waits until all published events are handled. */
async function redeliver(problem: Problem, type: string) {
  await storeAgain(await eventOf(problem, type))
  await waitUntilSettled(service)
}

const fix = { resolution: 'fix_applied', resolutionNotes: 'Broken connections are returned.' }

describe('resolving a problem', () => {
  it('resolves the incidents on hold for the problem, and no others', async () => {
    const problem = await fixing()
    const waiting = await linked(problem, 'awaiting_problem')
    const others = [
      await linked(problem),
      await linked(problem, 'awaiting_vendor'),
      await linked(await fixing(), 'awaiting_problem'),
    ]
    await holdsApplied()
    await act(problem, 'resolve', fix)
    const resolved = await waitFor(async () => {
      const incident = await incidentOf(waiting.id)
      return incident.status === 'resolved' && incident
    })
    expect(resolved).toMatchObject({
      resolutionCode: 'fixed',
      resolutionNotes: `Problem ${problem.number}: ${fix.resolutionNotes}`,
      holdReason: null,
    })
    const cause = await eventOf(problem, 'problem.resolved')
    const effect = await waitFor(() =>
      recorder.published.find(
        ({ event }) => event.resource.id === waiting.id && event.type === 'incident.resolved',
      ),
    )
    expect(effect.event).toMatchObject({
      causationId: cause.event.id,
      workspaceId: cause.event.workspaceId,
      actor: { type: 'system' },
      data: { cause: 'problem' },
    })
    await waitUntilSettled(service)
    for (const other of others) expect(await incidentOf(other.id)).toEqual(other)
  })

  it('counts as settled only once its incidents are resolved, however long that takes', async () => {
    const problem = await fixing()
    const waiting = await linked(problem, 'awaiting_problem')
    await holdsApplied()
    const order: string[] = []
    const { end } = await service.sql.begin(async (tx) => {
      await tx`lock table incidents in access exclusive mode`
      await act(problem, 'resolve', fix)
      const handled = waitUntilSettled(service).then(() => {
        order.push('settled')
        return incidentOf(waiting.id)
      })
      await waitFor(async () => {
        const waits = await service.sql`
          select from pg_locks where relation = 'incidents'::regclass and not granted`
        return waits.length > 0
      })
      order.push('unlocked')
      return { end: handled }
    })
    expect(await end).toMatchObject({ status: 'resolved', holdReason: null })
    expect(order).toEqual(['unlocked', 'settled'])
  })

  it('affects an incident once, even if the event is redelivered later', async () => {
    const problem = await fixing()
    const { id } = await linked(problem, 'awaiting_problem')
    await act(problem, 'resolve', fix)
    await waitFor(async () => (await incidentOf(id)).status === 'resolved')
    await post(`/itsm/incidents/${id}/reopen`)
    await act(problem, 'reopen')
    await api.patch(`/itsm/incidents/${id}`, { status: 'on_hold', holdReason: 'awaiting_problem' })
    const before = await incidentOf(id)
    await redeliver(problem, 'problem.resolved')
    expect(await incidentOf(id)).toEqual(before)
  })

  it('has no effect on incidents linked after the problem was reopened', async () => {
    const problem = await fixing()
    await act(problem, 'resolve', fix)
    await act(problem, 'reopen')
    const incident = await linked(problem, 'awaiting_problem')
    await redeliver(problem, 'problem.resolved')
    expect(await incidentOf(incident.id)).toEqual(incident)
  })

  it('is not repeated for its incidents when the problem is closed', async () => {
    const problem = await fixing()
    const waiting = await linked(problem, 'awaiting_problem')
    await act(problem, 'resolve', { resolution: 'risk_accepted', resolutionNotes: 'Rare.' })
    await waitFor(async () => (await incidentOf(waiting.id)).status === 'in_progress')
    await act(problem, 'close')
    const before = await incidentOf(waiting.id)
    await redeliver(problem, 'problem.closed')
    expect(await incidentOf(waiting.id)).toEqual(before)
    expect(await notesOf(waiting.id)).toHaveLength(1)
  })
})

describe('holding an incident for a problem that has ended', () => {
  const hold = { status: 'on_hold', holdReason: 'awaiting_problem' }
  const resumed = (id: string) => waitFor(async () => (await incidentOf(id)).status === 'in_progress')
  const canceled = async () => {
    const problem = (await post('/itsm/problems', { title: 'Slow' })).data(Problem)
    await act(problem, 'assess')
    return act(problem, 'close', { resolution: 'canceled' })
  }

  it('is rejected with the status of the problem, until the problem is reopened', async () => {
    const resolved = await act(await fixing(), 'resolve', fix)
    const closed = await canceled()
    for (const problem of [resolved, closed]) {
      const incident = await linked(problem)
      const refused = await api.patch(`/itsm/incidents/${incident.id}`, hold)
      expect(refused.status).toBe(422)
      expect(refused.error().details[0]).toMatchObject({ path: '/holdReason', code: 'problem_ended' })
      expect(refused.text).toContain(`Problem ${problem.number} is ${problem.status}`)
      const vendor = { status: 'on_hold', holdReason: 'awaiting_vendor' }
      expect((await api.patch(`/itsm/incidents/${incident.id}`, vendor)).status).toBe(200)
      const other = await api.patch(`/itsm/incidents/${incident.id}`, { holdReason: 'awaiting_problem' })
      expect(other.error().details[0]).toMatchObject({ code: 'problem_ended' })
      await act(problem, 'reopen')
      const held = await api.patch(`/itsm/incidents/${incident.id}`, { holdReason: 'awaiting_problem' })
      expect(held.data(Incident).holdReason).toBe('awaiting_problem')
    }
    const free = (await post('/itsm/incidents', { title: 'Slow' })).data(Incident)
    const both = await api.patch(`/itsm/incidents/${free.id}`, { ...hold, problemId: (await canceled()).id })
    expect(both.error().details[0]).toMatchObject({ code: 'problem_ended' })
    expect(await incidentOf(free.id)).toEqual(free)
  })

  it('ends as for the other incidents when the problem is linked later', async () => {
    const fixed = await act(await fixing(), 'resolve', fix)
    const [first, second] = [await canceled(), await canceled()]
    const waiting = async () => {
      const { id } = (await post('/itsm/incidents', { title: 'Checkout is slow' })).data(Incident)
      return (await api.patch(`/itsm/incidents/${id}`, hold)).data(Incident).id
    }
    const [one, other, edited] = [await waiting(), await waiting(), await waiting()]
    await post(`/itsm/problems/${fixed.id}/incidents`, { incidentId: one })
    await post(`/itsm/problems/${first.id}/incidents`, { incidentId: other })
    await api.patch(`/itsm/incidents/${edited}`, { problemId: second.id })
    await waitFor(async () => (await incidentOf(one)).status === 'resolved')
    expect(await incidentOf(one)).toMatchObject({ resolutionCode: 'fixed', holdReason: null })
    for (const [id, { number }] of [
      [other, first],
      [edited, second],
    ] as const) {
      await resumed(id)
      const notes = await notesOf(id)
      expect(notes.map(({ body, visibility }) => [body, visibility])).toEqual([
        [`Problem ${number} will not be fixed, as it was canceled`, 'internal'],
      ])
    }
  })

  it('ends if hold and resolution happen concurrently, in either order', async () => {
    for (let round = 0; round < 12; round++) {
      const problem = await fixing()
      const { id } = await linked(problem)
      const [held] = await Promise.all([
        api.patch(`/itsm/incidents/${id}`, hold),
        act(problem, 'resolve', { resolution: 'risk_accepted', resolutionNotes: 'Rare.' }),
      ])
      expect([200, 422]).toContain(held.status)
      if (held.status === 422) expect((await incidentOf(id)).status).toBe('open')
      else await resumed(id)
      expect(await notesOf(id)).toHaveLength(held.status === 200 ? 1 : 0)
    }
  })

  it('ends if neither the hold nor the resolution has seen the other', async () => {
    const problem = await fixing()
    const { id } = await linked(problem)
    await act(problem, 'resolve', { resolution: 'risk_accepted', resolutionNotes: 'Rare.' })
    await redeliver(problem, 'problem.resolved')
    const resolved = (await service.sql`select state from problems where id = ${problem.id}`)[0]?.state
    // Simulates a hold that reads the problem before its end is committed, and commits after that end was published.
    await service.sql`update problems set state = (state::jsonb || '{"status":"fix_in_progress"}')::json where id = ${problem.id}`
    expect((await api.patch(`/itsm/incidents/${id}`, hold)).status).toBe(200)
    const held = await waitFor(() =>
      recorder.published.find(
        (one) => one.event.resource.id === id && one.event.data.after?.status === 'on_hold',
      ),
    )
    await holdsApplied()
    expect((await incidentOf(id)).status).toBe('on_hold')
    await service.sql`update problems set state = ${service.sql.json(resolved)} where id = ${problem.id}`
    await storeAgain(held)
    await resumed(id)
    expect(await notesOf(id)).toHaveLength(1)
  })
})

describe('a problem that ends without a fix', () => {
  const ends: [string, (original: Problem) => object, (original: Problem) => string][] = [
    [
      'risk_accepted',
      () => ({ resolutionNotes: 'It is replaced soon.' }),
      () => 'its risk was accepted: It is replaced soon.',
    ],
    ['duplicate', ({ id }) => ({ duplicateOf: id }), ({ number }) => `it is a duplicate of ${number}`],
    ['canceled', () => ({}), () => 'it was canceled'],
  ]

  it.each(ends)(
    'with %s resumes its incidents, with a note that contains the reason',
    async (resolution, fields, why) => {
      const original = await fixing()
      const problem = (await post('/itsm/problems', { title: 'Slow' })).data(Problem)
      await act(problem, 'assess')
      const { id } = await linked(problem, 'awaiting_problem')
      const other = await linked(problem, 'awaiting_caller')
      await act(problem, 'close', { resolution, ...fields(original) })
      await waitFor(async () => (await incidentOf(id)).status === 'in_progress')
      await redeliver(problem, 'problem.closed')
      const notes = await notesOf(id)
      expect(notes.map(({ body, visibility }) => [body, visibility])).toEqual([
        [`Problem ${problem.number} will not be fixed, as ${why(original)}`, 'internal'],
      ])
      expect(await incidentOf(other.id)).toEqual(other)
    },
  )
})

describe('publishing a workaround', () => {
  it('adds a note to every open incident once', async () => {
    const problem = await fixing()
    const open = [await linked(problem), await linked(problem, 'awaiting_vendor')]
    const done = await linked(problem)
    await post(`/itsm/incidents/${done.id}/resolve`)
    await act(problem, 'publish-workaround', { workaround: 'Restart every hour.' })
    for (const { id } of open) await waitFor(async () => (await notesOf(id)).length > 0)
    await redeliver(problem, 'problem.workaround_published')
    for (const { id, status } of open) {
      expect((await notesOf(id)).map(({ body, visibility }) => [body, visibility])).toEqual([
        [`Workaround of problem ${problem.number}:\n\nRestart every hour.`, 'internal'],
      ])
      expect((await incidentOf(id)).status).toBe(status)
    }
    expect(await notesOf(done.id)).toEqual([])
  })
})

it('resolving a problem affects each of 500 incidents while people edit some of them', async () => {
  const problem = await fixing()
  const first = await linked(problem, 'awaiting_problem')
  await holdsApplied()
  // Copies of an incident that was linked over the API, each with the event that makes it a separate aggregate.
  await service.sql.begin(async (tx) => {
    await tx`
      insert into incidents (id, workspace_id, environment, version, state)
      select 'inc_' || lpad(g::text, 26, '0'), i.workspace_id, i.environment, 1,
        (i.state::jsonb || jsonb_build_object('id', 'inc_' || lpad(g::text, 26, '0'),
          'number', 'INC-' || (g + 1000)))::json
      from incidents i, generate_series(1, 499) g where i.id = ${first.id}`
    await tx`
      insert into events (id, stream_type, stream_id, version, type, workspace_id, environment, actor, resource, data,
        created_at)
      select new_event_id(), 'incidents', 'inc_' || lpad(g::text, 26, '0'), 1, 'incident.created',
        e.workspace_id, e.environment, e.actor, e.resource, e.data, e.created_at
      from events e, generate_series(1, 499) g where e.stream_id = ${first.id} and e.version = 1`
    await addHeads(tx, 'incidents')
  })
  await act(problem, 'resolve', fix)
  const busy = Array.from({ length: 10 }, (_, index) => `inc_${String(index * 40 + 1).padStart(26, '0')}`)
  const replies = await Promise.all(
    busy.map((id) => post(`/itsm/incidents/${id}/comments`, { body: 'Still waiting.' })),
  )
  expect(replies.map(({ status }) => status)).toEqual(busy.map(() => 201))
  const count = async () =>
    (
      await service.sql`
        select count(*)::int as n from incidents where problem_id = ${problem.id} and status = 'resolved'`
    )[0]?.n
  await waitFor(async () => (await count()) === 500)
  await redeliver(problem, 'problem.resolved')
  const [reported] = await service.sql`
    select count(*)::int as n, count(distinct stream_id)::int as incidents from events
    where type = 'incident.resolved' and causation_id = ${(await eventOf(problem, 'problem.resolved')).event.id}`
  expect(reported).toEqual({ n: 500, incidents: 500 })
})
