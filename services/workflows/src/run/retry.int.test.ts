import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { FailureGroup, newId, Run, RunDetail, RunRetry, RunRetryStarted, RunStep } from '@opsplane/contracts'
import {
  type ApiClient,
  followChanges,
  startTestService,
  type TestService,
  testPrincipal,
  waitFor,
} from '@opsplane/testing'
import { type Definition, type RunService, runService } from '../fixture/run-service.js'
import { effectFailure } from './perform/effect.js'
import type { Runs } from './runs.js'

/** A workspace with a small trace quota. */
const narrow = { workspaceId: newId('workspace'), environment: 'production' } as const
let fixture: RunService
let service: TestService
let runs: Runs
let api: ApiClient
/** Calls of this test's effects, in order. */
let asked: { url: string; key: string }[] = []
let answer: (url: string) => unknown = () => ({ status: 200 })

beforeAll(async () => {
  const http = async ({ key, input }: { key: string; input: unknown }) => {
    const { url } = input as { url: string }
    asked.push({ url, key })
    return answer(url)
  }
  const refuses = () => Promise.reject(effectFailure('not_there', 'This test has no such effect.'))
  fixture = runService({
    leaseMs: 600_000,
    effects: { http, api: refuses, connector: refuses, artifact: refuses, publish: refuses },
  })
  service = await startTestService(fixture.service, {
    env: { WORKSPACE_LIMITS: JSON.stringify({ [narrow.workspaceId]: { traceBytesPerDay: 4_000 } }) },
  })
  const [first] = fixture.replicas
  if (!first) throw new Error('no replica has started')
  runs = first
  api = service.as(testPrincipal({ workspaceId: fixture.tenant.workspaceId, role: 'admin' }))
})
afterAll(() => service?.stop())

const started = async (definition: Definition) => (await runs.start(fixture.define(definition)())).runId
const ended = (runId: string) => runs.waitForEnd(runId, 60_000)
const detail = async (runId: string) => (await api.get(`/runs/${runId}`)).data(RunDetail)
const retry = async (runId: string) => expect((await api.post(`/runs/${runId}/retry`, {})).status).toBe(200)
const call = (id: string) => ({ id, type: 'http', url: `https://${id}.test` }) as const
const approve = { id: 'ok', type: 'approval', title: 'Go?', approvers: { roles: ['admin'] } } as const
const calls = (id: string) => asked.filter(({ url }) => url.includes(id))
const refuse = (): never => {
  throw effectFailure('refused', 'No.')
}

/** Starts a run that waits for a child run, which charges, waits for an approval, and then ships. */
async function ordered() {
  asked = []
  const child = newId('workflow')
  fixture.define({ steps: [call('charge'), approve, call('ship')] }, child)
  const runId = await started({ steps: [{ id: 'sub', type: 'workflow', workflow: child }] })
  const childId = await waitFor(async () => {
    const found = (await detail(runId)).steps[0]?.childRunId
    expect(found).toEqual(expect.any(String))
    return found ?? ''
  })
  const isPaused = () => waitFor(async () => (await detail(childId)).status === 'paused')
  await isPaused()
  return {
    runId,
    childId,
    isPaused,
    decide: () => api.post(`/runs/${childId}/resume`, { decision: 'approve' }),
  }
}

test('a retry continues the failed child run of a step, without repeating its effects or approvals', async () => {
  const { runId, childId, decide } = await ordered()
  expect((await api.get(`/runs?triggerId=${runId}`)).page(Run).items).toMatchObject([{ id: childId }])
  answer = (url) => (url.includes('ship') ? refuse() : { status: 200 })
  await decide()
  expect(await ended(runId)).toMatchObject({ status: 'failed', error: { code: 'refused', step: 'sub' } })
  await retry(runId)
  await waitFor(() => calls('ship').length === 2)
  expect(await ended(runId)).toMatchObject({ status: 'failed' })
  answer = () => ({ status: 201 })
  await retry(runId)
  expect(await ended(runId)).toMatchObject({ status: 'completed', output: { status: 201 } })
  expect([calls('charge').length, calls('ship').length]).toEqual([1, 3])
  expect((await detail(childId)).attempt).toBe(3)
  expect(await service.sql`select 1 from runs where parent_run_id = ${runId}`).toHaveLength(1)
})

test('a retry uses the output of a child run that has completed in the meantime', async () => {
  const { runId, childId, decide } = await ordered()
  answer = (url) => (url.includes('ship') ? refuse() : { status: 200 })
  await decide()
  expect(await ended(runId)).toMatchObject({ status: 'failed' })
  answer = () => ({ status: 202 })
  await retry(childId)
  expect(await ended(childId)).toMatchObject({ status: 'completed' })
  await retry(runId)
  expect(await ended(runId)).toMatchObject({ status: 'completed', output: { status: 202 } })
  expect([calls('charge').length, calls('ship').length]).toEqual([1, 2])
  expect((await detail(childId)).attempt).toBe(2)
})

test('a retry of a cancelled run continues the child run that was cancelled with it', async () => {
  const { runId, childId, isPaused, decide } = await ordered()
  answer = () => ({ status: 200 })
  await api.post(`/runs/${runId}/cancel`, {})
  await retry(runId)
  await waitFor(async () => (await detail(childId)).attempt === 2)
  await isPaused()
  await decide()
  expect(await ended(runId)).toMatchObject({ status: 'completed' })
  expect([calls('charge').length, calls('ship').length]).toEqual([1, 1])
})

test.each([
  ['http_status', { retryable: false, uncertain: true }, 1],
  ['upstream_timeout', { retryable: true }, 1],
  ['refused', { retryable: false }, 2],
])(
  'an effect that failed with %s uses a new key in a retry only after a definite answer',
  async (code, how, keys) => {
    asked = []
    answer = () => {
      throw effectFailure(code, 'No.', how)
    }
    const runId = await started({ steps: [call('pay')] })
    await ended(runId)
    answer = () => ({ status: 200 })
    await retry(runId)
    expect(await ended(runId)).toMatchObject({ status: 'completed' })
    expect(new Set(asked.map(({ key }) => key)).size).toBe(keys)
  },
)

test('a retry is rejected from a step that is not in the definition, or that the run has not reached', async () => {
  const runId = await started({ steps: [{ id: 'no', type: 'fail', message: 'no' }, call('later')] })
  await ended(runId)
  const from = async (step: string) => (await api.post(`/runs/${runId}/retry`, { from: step })).error()
  expect(await from('nowhere')).toMatchObject({
    ...{ code: 'validation_failed', details: [{ path: '/from', code: 'unknown_step' }] },
  })
  expect(await from('later')).toMatchObject({
    ...{ code: 'invalid_state_transition', message: expect.stringContaining('not come to step later') },
  })
})

describe('a run beyond the trace quota', () => {
  const definition: Definition = {
    steps: [
      { ...call('charge'), body: '{{ input.text }}' },
      {
        ...{ id: 'each', type: 'for_each', items: '{{ input.items }}' },
        steps: [{ id: 'seen', type: 'transform', value: '{{ item & input.text }}' }],
      },
      { ...call('ship'), body: '{{ [steps.charge.output.status, $count(steps.each.output)] }}' },
    ],
  }
  const run = async (text: string) => {
    const begin = fixture.define(definition)
    return (await runs.start(begin({ tenant: narrow, input: { items: ['a', 'b'], text } }))).runId
  }
  const read = async (runId: string) => {
    const caller = service.as(testPrincipal({ workspaceId: narrow.workspaceId, role: 'admin' }))
    const { steps, ...rest } = (await caller.get(`/runs/${runId}`)).data(RunDetail)
    const omitted = (field: 'input' | 'output') =>
      steps.filter((step) => step[field].omitted).map(({ place }) => place)
    return { ...rest, steps, omitted: { inputs: omitted('input'), outputs: omitted('output') }, caller }
  }
  const none = { inputs: [], outputs: [] }
  const large = 'x'.repeat(9_000)

  test('is retried with its earlier outputs, and shows no values of its steps once it has completed', async () => {
    asked = []
    answer = () => ({ status: 201 })
    const within = await run('short')
    expect(await ended(within)).toMatchObject({ status: 'completed' })
    expect((await read(within)).omitted).toEqual(none)

    answer = (url) => (url.includes('ship') ? refuse() : { status: 202, body: large })
    const runId = await run(large)
    expect(await ended(runId)).toMatchObject({ status: 'failed' })
    const failure = await read(runId)
    expect(failure.omitted).toEqual({ inputs: ['charge'], outputs: [] })
    const link = failure.steps.find(({ id }) => id === 'charge')?.output.large?.href
    expect((await failure.caller.get(link ?? '')).status).toBe(200)

    answer = () => ({ status: 203 })
    expect((await failure.caller.post(`/runs/${runId}/retry`, {})).status).toBe(200)
    expect(await ended(runId)).toMatchObject({ status: 'completed', output: { status: 203 } })
    expect(calls('charge')).toHaveLength(2)
    const completed = await read(runId)
    const places = ['charge', 'seen[0]', 'seen[1]', 'ship']
    expect(completed).toMatchObject({ omitted: { outputs: places }, output: { value: { status: 203 } } })
    expect(completed.omitted.inputs).toEqual(expect.arrayContaining(['charge', 'ship']))
    expect(completed.steps.find(({ id }) => id === 'each')).toMatchObject({
      itemCount: 2,
      output: { value: null },
    })
    expect((await failure.caller.get(link ?? '')).status).toBe(404)
    const page = (await failure.caller.get(`/runs/${runId}/steps`)).page(RunStep)
    expect(page.items).toEqual(completed.steps)
  })
})

describe('a group of failed runs', () => {
  /** A listed workflow, with a function that runs it until it has failed. */
  async function failing(name: string) {
    const id = newId('workflow')
    const start = fixture.define({ steps: [call(name)] }, id)
    const { workspaceId, environment } = fixture.tenant
    await service.sql`insert into workflows (id, workspace_id, environment, version, state)
      values (${id}, ${workspaceId}, ${environment}, 1, ${service.sql.json({ name })})`
    const fail = async () => {
      const { runId } = await runs.start(start())
      expect(await ended(runId)).toMatchObject({ status: 'failed' })
      return runId
    }
    const groups = async () =>
      (await api.get('/runs/failures?limit=200'))
        .page(FailureGroup)
        .items.filter(({ target }) => target.id === id)
    return { id, fail, groups }
  }
  const retryGroup = (group: FailureGroup | undefined, body: object) =>
    api.post(`/runs/failures/${group?.id}/retry`, body)
  const over = (id: string | undefined) =>
    waitFor(async () => {
      const job = (await api.get(`/runs/retries/${id}`)).data(RunRetry)
      return job.status !== 'running' && job
    })

  test('contains runs with the same failure, and a retry covers those that had failed when it was listed', async () => {
    const { id, fail, groups } = await failing('grouped')
    let message = (n: number) => `Order ${n} was refused.`
    let n = 0
    answer = () => {
      throw effectFailure('refused', message(++n))
    }
    const first = [await fail(), await fail()]
    message = () => 'It was down.'
    await fail()
    const [down, refused, ...others] = await groups()
    expect(others).toEqual([])
    expect(refused).toMatchObject({
      ...{ target: { type: 'workflow', id, name: 'grouped' }, count: 2, isMore: false },
      cause: { code: 'refused', message: 'Order 2 was refused.' },
    })
    expect(down).toMatchObject({ count: 1, cause: { message: 'It was down.' } })
    message = (order) => `Order ${order} was refused.`
    const later = await fail()

    answer = () => ({ status: 200 })
    const counted = (await retryGroup(refused, { to: refused?.to, dryRun: true })).data(RunRetryStarted)
    expect(counted).toEqual({ dryRun: true, count: 2, job: null })
    const { job } = (await retryGroup(refused, { to: refused?.to })).data(RunRetryStarted)
    expect(await over(job?.id)).toMatchObject({
      ...{ workflowId: id, failures: refused?.id, status: 'completed', total: 2, retried: 2, refused: 0 },
      finishedAt: expect.any(String),
    })
    for (const runId of first) expect(await ended(runId)).toMatchObject({ status: 'completed' })
    expect((await detail(later)).status).toBe('failed')
    expect((await groups()).map(({ count }) => count)).toEqual([1, 1])
    const cancel = await api.post(`/runs/retries/${job?.id}/cancel`)
    expect(cancel.error().code).toBe('invalid_state_transition')
    const listed = (await api.get('/runs/retries')).page(RunRetry).items
    expect(listed.map((each) => each.id)).toContain(job?.id)
  })

  test('is retried no further after its retry is canceled', async () => {
    const { id, fail, groups } = await failing('canceled')
    answer = refuse
    // More than one step of a retry.
    for (let run = 0; run < 23; run++) await fail()
    const [group] = await groups()
    answer = () => ({ status: 200 })
    let goOn = () => {}
    const canGoOn = new Promise<void>((resolve) => {
      goOn = resolve
    })
    let locked = () => {}
    const isLocked = new Promise<void>((resolve) => {
      locked = resolve
    })
    // The first step waits for the lock on its first run.
    const holding = service.sql.begin(async (tx) => {
      await tx`select id from runs where workflow_id = ${id} order by id limit 1 for update`
      locked()
      await canGoOn
    })
    await isLocked
    try {
      const { job } = (await retryGroup(group, { to: group?.to })).data(RunRetryStarted)
      expect(job?.total).toBe(23)
      await waitFor(async () => {
        const [row] = await service.sql`select lease_owner from run_retries where id = ${job?.id ?? ''}`
        return row?.lease_owner !== null
      })
      expect((await retryGroup(group, { to: group?.to })).error().code).toBe('conflict')
      const canceled = (await api.post(`/runs/retries/${job?.id}/cancel`)).data(RunRetry)
      expect(canceled).toMatchObject({ status: 'canceled', finishedAt: expect.any(String) })
      goOn()
      await holding
      await waitFor(async () => {
        const [row] = await service.sql`select lease_owner from run_retries where id = ${job?.id ?? ''}`
        return row?.lease_owner === null
      })
      const after = (await api.get(`/runs/retries/${job?.id}`)).data(RunRetry)
      expect(after).toMatchObject({ status: 'canceled', refused: 0 })
      // The step running at the cancellation ends early if the lock is held longer than its timeout.
      expect(after.retried).toBeLessThanOrEqual(20)
      const left = 23 - after.retried
      await waitFor(async () => (await groups())[0]?.count === left)
      const [rest] = await groups()
      const { job: second } = (await retryGroup(rest, { to: rest?.to })).data(RunRetryStarted)
      expect(await over(second?.id)).toMatchObject({ status: 'completed', total: left, retried: left })
    } finally {
      goOn()
      await holding
    }
  })

  test('counts the retried runs of a step whose replica died', async () => {
    const { id, fail, groups } = await failing('crashed')
    answer = refuse
    const stepIds = [await fail(), await fail(), await fail()]
    const [group] = await groups()
    answer = () => ({ status: 200 })
    // The step reached its second run before the crash.
    for (const runId of stepIds.slice(0, 2)) await retry(runId)
    const jobId = newId('runRetry')
    const { workspaceId, environment } = fixture.tenant
    const actor = { id: 'usr_1', name: 'Ada', type: 'user' }
    await service.sql`
      insert into run_retries (id, workspace_id, environment, workflow_id, cause, ended_by, total, step_ids, actor,
        request_id, due_at, created_at)
      values (${jobId}, ${workspaceId}, ${environment}, ${id}, ${group?.id.split('.')[1] ?? ''}, ${group?.lastAt ?? ''}, 3,
        ${service.sql.json(stepIds)}, ${service.sql.json(actor)}, 'crashed-1', now(), now())`
    // Wakes the worker.
    await retryGroup(group, { to: group?.to, dryRun: true })
    expect(await over(jobId)).toMatchObject({ status: 'completed', total: 3, retried: 3, refused: 0 })
    const attempts = await Promise.all(stepIds.map(async (runId) => (await detail(runId)).attempt))
    expect(attempts).toEqual([2, 2, 2])
  })

  test('is announced on NATS when its runs fail and when they are retried', async () => {
    const { changed, close } = await followChanges(service, fixture.tenant)
    const { fail, groups } = await failing('signalled')
    answer = refuse
    const runId = await fail()
    await waitFor(() => changed.has(`run ${runId}`))
    changed.clear()
    const [group] = await groups()
    await retryGroup(group, { to: group?.to })
    await waitFor(() => changed.has(`run ${runId}`))
    await close()
  })

  test('is visible in its own tenant only, and accepts only its own `to`', async () => {
    const { fail, groups } = await failing('guarded')
    answer = refuse
    await fail()
    const [group] = await groups()
    expect((await retryGroup(group, { to: 'x' })).error()).toMatchObject({
      ...{ code: 'validation_failed', details: [{ in: 'body', path: '/to' }] },
    })
    const stranger = service.as(testPrincipal())
    expect((await stranger.get('/runs/failures')).page(FailureGroup).items).toEqual([])
    const path = `/runs/failures/${group?.id}/retry`
    expect((await stranger.post(path, { to: group?.to })).error().code).toBe('not_found')
    const { job } = (await api.post(path, { to: group?.to })).data(RunRetryStarted)
    for (const reply of [
      await stranger.get(`/runs/retries/${job?.id}`),
      await stranger.post(`/runs/retries/${job?.id}/cancel`),
    ])
      expect(reply.error().code).toBe('not_found')
    expect((await stranger.get('/runs/retries')).page(RunRetry).items).toEqual([])
  })
})
