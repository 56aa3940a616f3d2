import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { newId, Run, RunDetail, systemActor } from '@opsplane/contracts'
import { createLogger } from '@opsplane/runtime'
import { createExpressions, type Expressions } from '@opsplane/sandbox'
import { type ApiClient, startTestService, type TestService, testPrincipal, waitFor } from '@opsplane/testing'
import { z } from 'zod'
import { type Definition, type RunService, runService } from '../fixture/run-service.js'
import { effectFailure } from './perform/effect.js'
import type { Runs } from './runs.js'

let fixture: RunService
let service: TestService
let runs: Runs
let api: ApiClient
/** Calls of this test's effects, in order. */
const asked: { key: string; input: unknown; signal: AbortSignal }[] = []
let answer: (attempt: number) => Promise<unknown> = async () => ({ status: 200 })
const children = createExpressions({ log: createLogger({ service: 'test', level: 'silent' }) })
let evaluate: Expressions['evaluate'] = children.evaluate

const principal = (more = {}) => testPrincipal({ workspaceId: fixture.tenant.workspaceId, ...more })

beforeAll(async () => {
  const http = async ({ key, input, signal }: { key: string; input: unknown; signal: AbortSignal }) => {
    asked.push({ key, input, signal })
    return answer(asked.filter((each) => each.key === key).length)
  }
  const refuses = () => Promise.reject(effectFailure('not_there', 'This test has no such effect.'))
  fixture = runService({
    leaseMs: 600_000,
    effects: { http, api: refuses, connector: refuses, artifact: refuses, publish: refuses },
    expressions: { evaluate: (request) => evaluate(request) },
  })
  service = await startTestService(fixture.service)
  const [first] = fixture.replicas
  if (!first) throw new Error('no replica has started')
  runs = first
  api = service.as(principal())
})
afterEach(() => {
  evaluate = children.evaluate
})
afterAll(async () => {
  await service?.stop()
  await children.close()
})

const started = async (definition: Definition, input: unknown = null) =>
  (await runs.start(fixture.define(definition)({ input }))).runId
const ended = (runId: string) => runs.waitForEnd(runId, 60_000)
const detail = async (runId: string) => (await api.get(`/runs/${runId}`)).data(RunDetail)
const reached = (runId: string, status: string) =>
  waitFor(async () => {
    const run = await detail(runId)
    expect(run.status).toBe(status)
    return run
  })
const eventsOf = async (runId: string) =>
  (await service.sql`select type from events where stream_id = ${runId} order by position`).map(
    ({ type }) => type,
  )

const call = (id: string) => ({ id, type: 'http', url: 'https://example.test' }) as const

test('a run of three transforms completes, with each step recorded once', async () => {
  const runId = await started(
    {
      steps: [
        { id: 'one', type: 'transform', value: { sum: '{{ input.a }}' } },
        { id: 'two', type: 'transform', value: { twice: '{{ steps.one.output.sum * 2 }}' } },
        { id: 'three', type: 'transform', value: '{{ steps.two.output.twice }}' },
      ],
    },
    { a: 21 },
  )
  expect(await ended(runId)).toEqual({ status: 'completed', output: 42, error: null })
  const lines = await service.sql`
    select seq, entry->>'kind' as kind from run_entries where run_id = ${runId} order by seq`
  const kinds = [null, 'started', 'completed', 'completed', 'completed', 'ended']
  expect(lines.map(({ seq, kind }) => [seq, kind])).toEqual(kinds.map((kind, seq) => [seq, kind]))
  const [row] = await service.sql`
    select status, seq, lease_owner, ended_at is not null as ended from runs where id = ${runId}`
  expect(row).toEqual({ status: 'completed', seq: 5, lease_owner: null, ended: true })
  expect(await eventsOf(runId)).toEqual(['workflow.run_started', 'workflow.run_completed'])
})

test('slow expressions are evaluated once, and aborted when their run is cancelled', async () => {
  const evaluating: (AbortSignal | undefined)[] = []
  evaluate = (request) =>
    new Promise((_, reject) => {
      evaluating.push(request.signal)
      request.signal?.addEventListener('abort', () => reject(request.signal?.reason))
    })
  const runId = await started({ steps: [{ id: 'one', type: 'transform', value: '{{ 1 + 1 }}' }] })
  expect((await detail(runId)).status).toBe('running')
  await api.post(`/runs/${runId}/cancel`)
  expect(await ended(runId)).toMatchObject({ status: 'cancelled' })
  expect(evaluating.map((signal) => signal?.aborted)).toEqual([true])
})

test('a run that cannot be loaded is retried after growing delays, and continues once it can be', async () => {
  const { sql } = service
  const request = fixture.define({ steps: [{ id: 'one', type: 'transform', value: 1 }] })()
  const { runId } = await sql.begin(async (tx) => {
    const made = await runs.start(request, tx)
    await tx`update run_entries set entry = jsonb_set(entry::jsonb, '{programRef}', '"wf_none.1"')::json
      where run_id = ${made.runId}`
    return made
  })
  const held = async () =>
    (
      await sql`select failures, last_error, lease_owner, held_until > now() + interval '1 minute' as long
        from runs where id = ${runId}`
    )[0]
  const makeDue = async (failures: number) => {
    await sql`update runs set held_until = null, failures = ${failures} where id = ${runId}`
    runs.wake()
  }
  const isHeld = (more: object) =>
    waitFor(async () => {
      const row = await held()
      expect(row).toMatchObject({ lease_owner: null, last_error: expect.any(String), ...more })
      return row
    })
  runs.wake()
  await isHeld({})
  await makeDue(10)
  await isHeld({ long: true })
  await sql`update run_entries set entry = jsonb_set(entry::jsonb, '{programRef}', to_jsonb(${request.workflow.programRef}::text))::json
    where run_id = ${runId}`
  await makeDue(11)
  // The number of failed loads does not matter: they do not count as worker crashes.
  expect(await ended(runId)).toMatchObject({ status: 'completed', output: 1 })
  expect(await held()).toMatchObject({ failures: 0, last_error: null })
})

test('a run is written in one statement with its first step, and in one more for each further step', async () => {
  const steps = ['one', 'two', 'three'].map((id) => ({
    id,
    type: 'transform' as const,
    value: '{{ input }}',
  }))
  const runId = await started({ steps }, 7)
  await ended(runId)
  const written = await service.sql`
    select xmin::text as tx, count(*)::int as lines from run_entries where run_id = ${runId}
    group by xmin order by min(seq)`
  expect(written.map(({ lines }) => lines)).toEqual([3, 1, 2])
})

test('a run that waits for a child run releases its lease and its worker slot', async () => {
  const child = newId('workflow')
  fixture.define({ steps: [{ id: 'nap', type: 'wait', seconds: 3_600 }] }, child)
  const runId = await started({ steps: [{ id: 'sub', type: 'workflow', workflow: child }] })
  const isLeased = async () =>
    (await service.sql`select 1 from runs where id = ${runId} and lease_owner is not null`).length > 0
  await reached(runId, 'waiting')
  await waitFor(async () => !(await isLeased()))
})

test('a trigger that has started a run starts no second one', async () => {
  const request = fixture.define({ steps: [{ id: 'one', type: 'transform', value: 1 }] })
  const both = await Promise.all([1, 2].map(() => runs.start(request({ triggerKey: 'evt_1' }))))
  expect(new Set(both.map(({ runId }) => runId)).size).toBe(1)
  expect(both.map(({ created }) => created).sort()).toEqual([false, true])
})

describe('the trace', () => {
  test('shows each step with its input and output, and the steps of a for_each by item', async () => {
    const runId = await started(
      {
        steps: [
          {
            id: 'each',
            type: 'for_each',
            items: '{{ input }}',
            steps: [{ id: 'square', type: 'transform', value: '{{ item * item }}' }],
          },
          {
            id: 'is_large',
            type: 'branch',
            if: '{{ steps.each.output[0] > 3 }}',
            then: [{ id: 'yes', type: 'transform', value: 'large' }],
          },
        ],
      },
      [2, 3],
    )
    await ended(runId)
    const { steps, output, status } = await detail(runId)
    expect([status, output.value]).toEqual(['completed', 'large'])
    expect(steps.map(({ place, parent, status, output }) => [place, parent, status, output.value])).toEqual([
      ['each', null, 'completed', null],
      ['square[0]', 'each', 'completed', 4],
      ['square[1]', 'each', 'completed', 9],
      ['is_large', null, 'completed', null],
      ['yes', 'is_large', 'completed', 'large'],
    ])
    expect(steps[0]).toMatchObject({ itemCount: 2 })
    expect(steps[3]).toMatchObject({ chosen: 'then' })
  })

  test('links to large values', async () => {
    const large = 'x'.repeat(20_000)
    const runId = await started(
      { steps: [{ id: 'big', type: 'transform', value: { text: '{{ input }}' } }] },
      large,
    )
    await ended(runId)
    const { steps, input } = await detail(runId)
    expect(input).toMatchObject({ value: null, large: { href: `/runs/${runId}/values/0.input` } })
    const link = steps[0]?.output.large?.href ?? ''
    expect((await api.get(link)).data(z.json())).toEqual({ text: large })
    expect((await service.as(testPrincipal()).get(link)).status).toBe(404)
  })
})

test('a failed effect is retried with the same key, and its attempts are shown', async () => {
  asked.length = 0
  answer = async (attempt) => {
    if (attempt === 1) throw effectFailure('server_error', 'It answered 500.', { retryable: true })
    return { status: 200 }
  }
  const runId = await started({ steps: [{ ...call('post'), retry: { delaySeconds: 0.1 } }] })
  expect(await ended(runId)).toMatchObject({ status: 'completed', output: { status: 200 } })
  expect(asked.map(({ key }) => key)).toEqual([asked[0]?.key, asked[0]?.key])
  const [step] = (await detail(runId)).steps
  expect(step?.attempts).toMatchObject([{ number: 1, error: { code: 'server_error' } }])
})

test('a waiting run has no worker, and continues when it is due', async () => {
  const runId = await started({
    steps: [
      { id: 'pause', type: 'wait', seconds: 2 },
      { id: 'after', type: 'transform', value: '{{ steps.pause.output.at }}' },
    ],
  })
  const waiting = await reached(runId, 'waiting')
  expect(waiting.steps[0]?.waiting).toMatchObject({ for: 'time' })
  expect(await ended(runId)).toMatchObject({ status: 'completed' })
})

describe('cancel', () => {
  test('stops active steps, and ignores their results', async () => {
    asked.length = 0
    let go = () => {}
    answer = () => new Promise((resolve) => (go = () => resolve({ status: 200 })))
    const runId = await started({ steps: [call('slow'), { id: 'never', type: 'transform', value: 1 }] })
    await waitFor(() => asked.length === 1)
    const cancelled = (await api.post(`/runs/${runId}/cancel`, { reason: 'enough' })).data(Run)
    expect(cancelled).toMatchObject({
      status: 'cancelled',
      error: { message: 'enough' },
      allowedActions: ['retry'],
    })
    expect(asked[0]?.signal.aborted).toBe(true)
    go()
    expect((await detail(runId)).steps.map(({ place, status }) => [place, status])).toEqual([
      ['slow', 'cancelled'],
    ])
    expect((await api.post(`/runs/${runId}/cancel`, {})).error().code).toBe('invalid_state_transition')
    expect(await eventsOf(runId)).toEqual(['workflow.run_started', 'workflow.run_cancelled'])
  })

  test('reaches a run on another replica and its sub-workflow, long before a lease expires', async () => {
    asked.length = 0
    answer = () => new Promise(() => {})
    const other = await service.replica()
    try {
      const child = 'wf_01JABCDEFGHJKMNPQRSTVWXYZ9'
      fixture.define({ steps: [call('slow')] }, child)
      const steps = [{ id: 'sub', type: 'workflow', workflow: child } as const]
      const runId = (await runs.start(fixture.define({ steps })())).runId
      await waitFor(() => asked.length === 1)
      const second = fixture.replicas.at(-1)
      expect(second).not.toBe(runs)
      expect(second?.runner.has(runId)).toBe(false)
      const { actor, requestId } = { actor: systemActor, requestId: null }
      const signal = { kind: 'cancel', by: 'usr_1', reason: 'enough' } as const
      expect(await second?.present(runId, { signal, actor, requestId }, true)).toBe('changed')
      const childId = (await detail(runId)).steps[0]?.childRunId ?? ''
      expect(await ended(childId)).toMatchObject({ status: 'cancelled' })
      await waitFor(() => asked[0]?.signal.aborted === true)
      expect((await detail(runId)).status).toBe('cancelled')
    } finally {
      await other.stop()
    }
  })

  test('reaches waiting runs, and the child runs that they wait for', async () => {
    const child = 'wf_01JABCDEFGHJKMNPQRSTVWXYZ0'
    fixture.define({ steps: [{ id: 'long', type: 'wait', seconds: 3_600 }] }, child)
    const runId = await started({ steps: [{ id: 'sub', type: 'workflow', workflow: child }] })
    const parent = await waitFor(async () => {
      const found = await detail(runId)
      expect(found.steps[0]?.childRunId).toEqual(expect.any(String))
      return found
    })
    const childId = parent.steps[0]?.childRunId ?? ''
    await reached(childId, 'waiting')
    await api.post(`/runs/${runId}/cancel`, {})
    expect(await ended(childId)).toMatchObject({ status: 'cancelled' })
  })
})

test('a run waits for its child run, and uses its output or its failure', async () => {
  const child = 'wf_01JABCDEFGHJKMNPQRSTVWXYZ1'
  fixture.define({ steps: [{ id: 'double', type: 'transform', value: '{{ input * 2 }}' }] }, child)
  const runId = await started(
    {
      steps: [
        { id: 'sub', type: 'workflow', workflow: child, input: '{{ input }}' },
        { id: 'done', type: 'transform', value: '{{ steps.sub.output + 1 }}' },
      ],
    },
    20,
  )
  expect(await ended(runId)).toMatchObject({ status: 'completed', output: 41 })
})

test('child runs that are awaited concurrently each return their output to their parent', async () => {
  const child = 'wf_01JABCDEFGHJKMNPQRSTVWXYZ2'
  fixture.define({ steps: [{ id: 'double', type: 'transform', value: '{{ input * 2 }}' }] }, child)
  const each = { id: 'sub', type: 'workflow', workflow: child, input: '{{ item }}' } as const
  const definition: Definition = {
    steps: [{ id: 'all', type: 'for_each', items: '{{ input }}', concurrency: 2, steps: [each] }],
  }
  const numbers = [1, 2, 3, 4, 5]
  const ids = await Promise.all([1, 2, 3, 4].map(() => started(definition, numbers)))
  const output = numbers.map((number) => number * 2)
  for (const id of ids) expect(await ended(id)).toEqual({ status: 'completed', output, error: null })
})

test('a retry continues at the failed step, and keeps the outputs of successful steps', async () => {
  asked.length = 0
  answer = async () => {
    throw effectFailure('refused', 'No.')
  }
  const runId = await started({ steps: [{ id: 'first', type: 'transform', value: 'kept' }, call('second')] })
  expect(await ended(runId)).toMatchObject({ status: 'failed', error: { code: 'refused', step: 'second' } })
  answer = async () => ({ status: 204 })
  expect((await api.post(`/runs/${runId}/retry`, {})).data(Run)).toMatchObject({ attempt: 2 })
  expect(await ended(runId)).toMatchObject({ status: 'completed', output: { status: 204 } })
  expect(new Set(asked.map(({ key }) => key)).size).toBe(2)
  expect(await eventsOf(runId)).toEqual(
    ['started', 'failed', 'retried', 'started', 'completed'].map((end) => `workflow.run_${end}`),
  )
  expect((await api.post(`/runs/${runId}/retry`, { from: 'nowhere' })).error().code).toBe(
    'invalid_state_transition',
  )
})

test('runs with the same concurrency key are queued oldest first, skipped, or replace the oldest', async () => {
  const step = { id: 'hold', type: 'wait', seconds: 3_600 } as const
  const of = (whenFull: 'queue' | 'skip' | 'cancel_oldest') =>
    fixture.define({ steps: [step], concurrency: { key: '{{ input }}', limit: 1, whenFull } })
  const start = async (request: ReturnType<typeof of>, input: string) =>
    (await runs.start(request({ input }))).runId
  const queue = of('queue')
  const [first, second, other] = [await start(queue, 'a'), await start(queue, 'a'), await start(queue, 'b')]
  await reached(first, 'waiting')
  await reached(other, 'waiting')
  expect((await detail(second)).status).toBe('queued')
  await api.post(`/runs/${first}/cancel`, {})
  await reached(second, 'waiting')
  const skip = of('skip')
  await reached(await start(skip, 'a'), 'waiting')
  expect(await detail(await start(skip, 'a'))).toMatchObject({
    status: 'cancelled',
    error: { code: 'concurrency_limit' },
  })
  const replace = of('cancel_oldest')
  const old = await start(replace, 'a')
  await reached(old, 'waiting')
  await reached(await start(replace, 'a'), 'waiting')
  expect((await detail(old)).status).toBe('cancelled')
})

test('lists of runs can be filtered and paged, and contain only runs of their workspace', async () => {
  const request = fixture.define({ steps: [{ id: 'one', type: 'transform', value: 1 }] })
  const ids: string[] = []
  for (let n = 0; n < 3; n++) ids.unshift((await runs.start(request())).runId)
  const { tenant, workflow } = request()
  const { id } = workflow
  for (const runId of ids) await ended(runId)
  expect((await api.get(`/workflows/${id}/runs`)).error().code).toBe('not_found')
  await service.sql`insert into workflows (id, workspace_id, environment, version, state)
    values (${id}, ${tenant.workspaceId}, ${tenant.environment}, 1, '{}')`
  const first = (await api.get(`/workflows/${id}/runs?limit=2&status=completed`)).page(Run)
  const second = (
    await api.get(`/workflows/${id}/runs?limit=2&status=completed&after=${first.pagination.nextCursor}`)
  ).page(Run)
  expect([...first.items, ...second.items].map((run) => run.id)).toEqual(ids)
  expect((await api.get(`/runs?workflowId=${id}&triggerType=schedule`)).page(Run).items).toEqual([])
  const [newest] = first.items
  expect((await api.get(`/runs?workflowId=${id}&from=${newest?.queuedAt}`)).page(Run).items[0]?.id).toBe(
    newest?.id,
  )
  expect((await service.as(testPrincipal()).get(`/runs?workflowId=${id}`)).page(Run).items).toEqual([])
})
