import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals'
import {
  eventExample,
  idFactory,
  natsNames,
  newId,
  type PlatformEvent,
  Run,
  SkippedTrigger,
  TriggeredRun,
  Workflow,
  WorkflowHook,
  WorkflowWithDraft,
} from '@opsplane/contracts'
import { connectNats, type NatsLink, streamLog } from '@opsplane/nats'
import { createLogger } from '@opsplane/runtime'
import { type ApiClient, signedHeaders, testNatsUrl, testPrincipal, waitFor } from '@opsplane/testing'
import {
  type DefinitionInput,
  hello,
  startWorkflows,
  type WorkflowsFixture,
} from '../fixture/workflows-fixture.js'

let fixture: WorkflowsFixture
let api: ApiClient
let link: NatsLink
const principal = testPrincipal()
beforeAll(async () => {
  link = connectNats({ url: testNatsUrl(), name: 'test', log: silent })
  fixture = await startWorkflows()
  api = fixture.service.as(principal)
})
afterAll(async () => {
  await link?.close()
  await fixture?.stop()
})

const silent = createLogger({ service: 'test', level: 'silent', tenantData: false })
const create = async (definition: DefinitionInput, name = 'Triggered') =>
  (await api.post('/workflows', { name, definition })).data(WorkflowWithDraft)
const publish = async (definition: DefinitionInput, activate = true) => {
  const { id } = await create(definition)
  return (await api.post(`/workflows/${id}/publish`, { activate })).data(Workflow)
}
const trigger = async (id: string, body: object = {}, query = '?wait=20') =>
  (await api.post(`/workflows/${id}/trigger${query}`, body)).data(TriggeredRun)
/** Pages of one item each contain the same items as one page of all, newest first. */
const listsSkipped = async (id: string) => {
  const path = `/workflows/${id}/skipped-triggers`
  await fixture.service.sql`insert into skipped_triggers
    select workflow_id, 'older', workspace_id, environment, trigger_type, triggered_at - interval '1 day', reason
    from skipped_triggers where workflow_id = ${id} limit 1`
  const all = (await api.get(path)).page(SkippedTrigger)
  expect(all.items.at(-1)).toMatchObject({ triggerId: 'older', triggerType: 'event', reason: 'too_deep' })
  const first = (await api.get(`${path}?limit=1`)).page(SkippedTrigger)
  const next = (await api.get(`${path}?limit=1&after=${first.pagination.nextCursor}`)).page(SkippedTrigger)
  expect([...first.items, ...next.items]).toEqual(all.items.slice(0, 2))
  expect((await fixture.service.as(testPrincipal()).get(path)).error().code).toBe('not_found')
}
const runsOf = (id: string) =>
  fixture.service.sql<{ id: string; trigger_type: string; workflow_version: number }[]>`
    select id, trigger_type, workflow_version from runs where workflow_id = ${id} order by id`

describe('a manual trigger', () => {
  it('runs the published version, and returns its output if the request waits for it', async () => {
    const { id } = await publish(hello, false)
    expect(await trigger(id, { input: { name: 'Ada' } })).toMatchObject({
      ...{ created: true, ended: true, status: 'completed', output: 'Hello Ada', error: null },
    })
    expect(await trigger(id, { input: { name: 'Ada' } }, '')).toMatchObject({ ended: false, status: null })
    expect((await api.post(`/workflows/${id}/trigger?wait=21`, {})).status).toBe(422)
    const draft = await create(hello)
    expect((await api.post(`/workflows/${draft.id}/trigger`, {})).error().code).toBe(
      'invalid_state_transition',
    )
    const writer = fixture.service.as({ ...principal, permissions: ['workflows:write'] })
    expect((await writer.post(`/workflows/${id}/trigger`, {})).error().code).toBe('insufficient_scope')
  })

  it('validates the input against its schema, and fills in defaults', async () => {
    const { id } = await publish({
      ...hello,
      input: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string' }, greeting: { type: 'string', default: 'Hello' } },
      },
      steps: [{ id: 'greet', type: 'transform', value: '{{ input.greeting }} {{ input.name }}' }],
    })
    expect((await trigger(id, { input: { name: 'Ada' } })).output).toBe('Hello Ada')
    const refused = (await api.post(`/workflows/${id}/trigger`, { input: { name: 7 } })).error()
    expect(refused.code).toBe('validation_failed')
    expect(refused.details[0]?.path).toBe('/input/name')
    const bad = await create({ ...hello, input: { type: 'nonsense' } })
    expect(bad.problems[0]?.path).toMatch(/^\/input/)
  })

  it('finds the run of a request whose response was lost, as long as its Idempotency-Key is kept', async () => {
    const { sql } = fixture.service
    const { id } = await publish(hello, false)
    const path = `/workflows/${id}/trigger`
    const key = { 'idempotency-key': 'nightly' }
    const start = async (name: string) => (await api.post(path, { input: { name } }, key)).data(TriggeredRun)
    const loseAnswer = () => sql`
      update idempotency_keys set status = null, body = null, headers = null, locked_until = now() - interval '1 s'`
    const first = await start('Ada')
    await loseAnswer()
    expect(await start('Ada')).toMatchObject({ runId: first.runId, created: false })
    await loseAnswer()
    const other = await start('Bob')
    expect(other.created).toBe(true)
    const old = idFactory(() => Date.now() - 25 * 3_600_000)('run')
    await sql`update run_triggers set run_id = ${old} where run_id = ${first.runId}`
    await loseAnswer()
    const later = await start('Ada')
    expect(later.created).toBe(true)
    await loseAnswer()
    expect(await start('Ada')).toMatchObject({ runId: later.runId, created: false })
    expect((await runsOf(id)).map((run) => run.id)).toEqual([first.runId, other.runId, later.runId])
  })

  it('tests the draft with pinned outputs, as version 0 and for the caller', async () => {
    const { id } = await create({
      steps: [
        { id: 'fetch', type: 'http', url: 'https://example.com' },
        { id: 'show', type: 'transform', value: '{{ steps.fetch.output.body & event.suffix }}' },
      ],
    })
    const body = { event: { suffix: '!' }, pins: { fetch: { body: 'pinned {{ x }}' } } }
    const tested = (await api.post(`/workflows/${id}/test?wait=20`, body)).data(TriggeredRun)
    expect(tested).toMatchObject({ status: 'completed', output: 'pinned {{ x }}!' })
    expect(await runsOf(id)).toMatchObject([{ workflow_version: 0 }])
    const unknown = (await api.post(`/workflows/${id}/test`, { pins: { gone: 1 } })).error()
    expect(unknown.details[0]?.path).toBe('/pins/gone')
  })
})

describe('an event trigger', () => {
  const onCreation = (name: string): DefinitionInput => ({
    trigger: {
      type: 'event',
      events: ['workflow.*'],
      filter: { event: 'workflow.created', 'data.name': name },
    },
    steps: [{ id: 'tell', type: 'transform', value: '{{ event.data.name }}' }],
  })

  it('lets a step find an event that was published before the step started to wait', async () => {
    const filter = { 'data.id': '{{ event.data.id }}' }
    const { id } = await publish({
      ...onCreation('Followed'),
      steps: [
        { id: 'nap', type: 'wait', seconds: 1 },
        { id: 'next', type: 'wait', event: { types: ['workflow.updated'], filter } },
      ],
    })
    const followed = await create(hello, 'Followed')
    expect((await api.patch(`/workflows/${followed.id}`, { name: 'Later' })).status).toBe(200)
    await waitFor(async () => {
      const [run] = (await api.get(`/workflows/${id}/runs`)).page(Run).items
      expect(run?.status).toBe('completed')
      return true
    })
  })

  it('starts one run for each event after the activation that matches its filter', async () => {
    await create(hello, 'Wanted')
    const { id } = await publish(onCreation('Wanted'))
    await create(hello, 'Unwanted')
    await create(hello, 'Wanted')
    await waitFor(async () => (await runsOf(id)).length === 1)
    expect((await api.post(`/workflows/${id}/deactivate`, {})).data(Workflow).status).toBe('inactive')
    await create(hello, 'Wanted')
    const last = await publish(onCreation('Last'))
    await create(hello, 'Last')
    await waitFor(async () => (await runsOf(last.id)).length === 1)
    expect(await runsOf(id)).toMatchObject([{ trigger_type: 'event', workflow_version: 1 }])
  })

  it('starts nothing for events of another environment or workspace', async () => {
    const { id } = await publish(onCreation('Elsewhere'))
    for (const other of [testPrincipal(), { ...principal, environment: 'staging' as const }]) {
      const made = await fixture.service
        .as(other)
        .post('/workflows', { name: 'Elsewhere', definition: hello })
      expect(made.status).toBe(201)
    }
    await create(hello, 'Elsewhere')
    await waitFor(async () => (await runsOf(id)).length > 0)
    expect(await runsOf(id)).toHaveLength(1)
  })
})

describe('a workflow', () => {
  it('is deactivated with the missing permissions when its owner has lost a right', async () => {
    const owner = testPrincipal({ userId: newId('user') })
    const own = fixture.service.as(owner)
    const listens = { ...hello, trigger: { type: 'event', events: ['incident.created'] } }
    const made = await own.post('/workflows', { name: 'Listens', definition: listens })
    const { id } = made.data(WorkflowWithDraft)
    await own.post(`/workflows/${id}/publish`, { activate: true })
    fixture.settings.rights.set(owner.userId, ['workflows:write'])
    const event: PlatformEvent = {
      ...eventExample('user.role_changed'),
      id: newId('event'),
      workspaceId: owner.workspaceId ?? '',
      environment: 'production',
    }
    const changed = { ...event, resource: { ...event.resource, id: owner.userId } }
    const subject = natsNames(fixture.service.natsPrefix).eventSubject(changed)
    const body = JSON.stringify(changed)
    await (await link.ready()).request(subject, body, {
      timeout: 30_000,
      headers: signedHeaders({ subject, body }),
    })
    const deactivated = await waitFor(async () => {
      const found = (await own.get(`/workflows/${id}`)).data(WorkflowWithDraft)
      return found.status === 'inactive' ? found : undefined
    })
    expect(deactivated.deactivatedReason).toBe('owner_rights')
    const [last] = await fixture.service.sql`
      select type, data->'missing' as missing from events where stream_id = ${id} order by version desc limit 1`
    expect(last).toEqual({ type: 'workflow.deactivated', missing: ['itsm:read'] })
  })
})

describe('a chain of runs', () => {
  it('ends at the maximum depth when runs trigger each other, and the reason is recorded', async () => {
    const { id } = await publish({
      trigger: {
        type: 'event',
        events: ['workflow.run_started'],
        filter: { 'data.workflowName': 'Triggered' },
      },
      steps: [{ id: 'tell', type: 'transform', value: 1 }],
    })
    await trigger((await publish(hello, false)).id, { input: { name: 'Ada' } })
    const skipped = await waitFor(async () => {
      const rows = await fixture.service.sql`select reason from skipped_triggers where workflow_id = ${id}`
      return rows.length > 0 ? rows : undefined
    })
    expect(skipped[0]).toEqual({ reason: 'too_deep' })
    await listsSkipped(id)
    await api.post(`/workflows/${id}/deactivate`, {})
  })
})

describe('a bus trigger', () => {
  it('starts one run for each event of its topic, type and filter', async () => {
    const names = natsNames(fixture.service.natsPrefix)
    const stream = streamLog(link, names.topicsStream)
    const say = (topic: string, type: string, amount: number, depth?: number) => {
      const message = { type, payload: { amount }, createdAt: new Date().toISOString(), depth }
      const { workspaceId = '', environment = 'production' } = principal
      return stream.append(names.topicSubject(workspaceId, environment, topic), JSON.stringify(message))
    }
    const { id } = await publish({
      trigger: {
        type: 'event_bus',
        topic: 'orders.created',
        eventType: 'order',
        filter: { 'payload.amount': { gte: 10 } },
      },
      steps: [{ id: 'tell', type: 'transform', value: '{{ event.payload.amount }}' }],
    })
    await say('orders.created', 'order', 5)
    await say('orders.created', 'refund', 50)
    await say('orders.deleted', 'order', 50)
    await say('orders.created', 'order', 10)
    await waitFor(async () => (await runsOf(id)).length > 0)
    expect(await runsOf(id)).toMatchObject([{ trigger_type: 'event_bus' }])
    await say('orders.created', 'order', 11, 11)
    await say('orders.created', 'order', 12, 10)
    await waitFor(async () => (await runsOf(id)).length === 2)
    const skipped = await fixture.service.sql`select reason from skipped_triggers where workflow_id = ${id}`
    expect([...skipped]).toEqual([{ reason: 'too_deep' }])
  })
})

describe('a schedule trigger', () => {
  it('starts runs at its scheduled times while it is active', async () => {
    const { id } = await publish({
      trigger: { type: 'schedule', schedule: { everySeconds: 1 }, input: { name: 'Ada' } },
      steps: hello.steps,
    })
    await waitFor(async () => (await runsOf(id)).length >= 2)
    expect((await runsOf(id))[0]).toMatchObject({ trigger_type: 'schedule', workflow_version: 1 })
    await api.post(`/workflows/${id}/deactivate`, {})
    await waitFor(async () => {
      const rows = await fixture.service.sql`select 1 from schedules where owner_id = ${id}`
      return rows.length === 0
    })
  })

  it('records each time once that it skips because the previous run has not ended', async () => {
    const { id } = await publish({
      trigger: { type: 'schedule', schedule: { everySeconds: 1, overlap: 'skip' } },
      steps: [{ id: 'hold', type: 'wait', seconds: 3_600 }],
    })
    const items = await waitFor(async () => {
      const page = (await api.get(`/workflows/${id}/skipped-triggers`)).page(SkippedTrigger)
      return page.items.length >= 2 && page.items
    })
    expect(new Set(items.map(({ reason, triggerType }) => `${triggerType} ${reason}`))).toEqual(
      new Set(['schedule overlap']),
    )
    expect(new Set(items.map(({ triggerId }) => triggerId)).size).toBe(items.length)
    expect(await runsOf(id)).toHaveLength(1)
    await api.post(`/workflows/${id}/deactivate`, {})
  })

  it('is validated when it is saved', async () => {
    const body = (schedule: object) => ({
      name: 'Nightly',
      definition: { ...hello, trigger: { type: 'schedule', schedule } },
    })
    expect((await api.post('/workflows', body({ cron: '99 * * * *' }))).status).toBe(422)
    const queues = await api.post('/workflows', body({ cron: '0 3 * * *', overlap: 'queue' }))
    expect(queues.data(WorkflowWithDraft).problems).toMatchObject([{ code: 'needs_concurrency' }])
  })
})

describe('an inbound webhook', () => {
  const anonymous = () => fixture.service.as()
  const hookOf = async (id: string) =>
    `/origin${(await api.get(`/workflows/${id}/hook`)).data(WorkflowHook).path}`
  const hooked: DefinitionInput = {
    trigger: { type: 'webhook' },
    steps: [{ id: 'echo', type: 'transform', value: '{{ event.body.word }}' }],
  }

  it('starts a run for any client that has the URL, once for each key of the sender', async () => {
    const { id } = await publish(hooked)
    const path = await hookOf(id)
    const call = (headers: Record<string, string> = {}) =>
      anonymous().send('POST', `${path}?wait=20`, { body: { word: 'yes' }, headers })
    const first = (await call({ 'webhook-id': 'once' })).data(TriggeredRun)
    expect(first).toMatchObject({ created: true, status: 'completed', output: 'yes' })
    expect((await call({ 'webhook-id': 'once' })).data(TriggeredRun)).toEqual({ ...first, created: false })
    expect((await call()).data(TriggeredRun).runId).not.toBe(first.runId)
    expect((await anonymous().get(path)).status).toBe(202)
  })

  it('returns the same error for unknown, inactive and rotated URLs', async () => {
    const { id } = await publish(hooked)
    const path = await hookOf(id)
    const fresh = `/origin${(await api.post(`/workflows/${id}/hook/rotate`, {})).data(WorkflowHook).path}`
    const manual = await publish(hello)
    const inactive = await publish(hooked, false)
    const unknown = [
      path,
      await hookOf(manual.id),
      await hookOf(inactive.id),
      '/origin/hooks/hk_x',
      '/origin/hooks/x%00',
    ]
    const answers = await Promise.all(
      unknown.slice(0, 4).map(async (each) => (await anonymous().post(each, { word: 'no' })).error()),
    )
    expect(new Set(answers.map(({ code, message }) => `${code} ${message}`)).size).toBe(1)
    expect(answers[0]?.code).toBe('not_found')
    expect((await anonymous().post(fresh, { word: 'yes' })).status).toBe(202)
  })

  it('rejects requests without the required signature', async () => {
    fixture.settings.secrets.set('hook_key', 'very secret')
    const { id } = await publish({
      ...hooked,
      trigger: { type: 'webhook', signature: { secret: 'hook_key', header: 'X-Signature' } },
    })
    const path = await hookOf(id)
    const text = JSON.stringify({ word: 'signed' })
    const signed = (secret: string) => `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`
    const call = (headers: Record<string, string>) =>
      anonymous().send('POST', `${path}?wait=20`, { body: { word: 'signed' }, headers })
    for (const wrong of [{}, { 'X-Signature': signed('other') }, { 'X-Signature': 'sha256=' }])
      expect((await call(wrong)).error().code).toBe('unauthenticated')
    expect((await call({ 'X-Signature': signed('very secret') })).data(TriggeredRun).output).toBe('signed')
  })
})
