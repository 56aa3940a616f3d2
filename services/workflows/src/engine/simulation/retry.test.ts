import { describe, expect, test } from '@jest/globals'
import { sha256Hex } from '@opsplane/runtime'
import type { StepError } from '../history.js'
import { summarizeRun } from '../summary.js'
import { answer, approval, finish, goodAnswer, startRun, taskAt } from './driving.fixture.js'
import { context, type EngineRun } from './engine-run.fixture.js'

const effects = {
  http: { type: 'http', url: 'https://example.com', body: '{{ steps.before.output }}' },
  api: { type: 'api', operation: 'getIncident', params: { id: '{{ steps.before.output }}' } },
  connector: {
    type: 'connector',
    connector: 'con_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
    action: 'call',
    input: '{{ run.attempt }}',
  },
  artifact: { type: 'artifact', artifact: 'enrich', input: '{{ run.attempt }}' },
  publish: { type: 'publish', topic: 'orders', eventType: 'made', payload: '{{ run.attempt }}' },
}
const firstKey = sha256Hex(`${context.runId}:charge:1`)
const again = { kind: 'retry', by: 'usr_a', from: null } as const

/** A run whose effect has failed with this error, after a step that completed. */
function failedBy(
  effect: object,
  error: Partial<StepError>,
  around = (step: object): object => step,
): EngineRun {
  const run = startRun({
    steps: [{ type: 'transform', id: 'before', value: 1 }, around({ id: 'charge', ...effect })],
  })
  answer(run, 'before')
  for (const place of ['around', 'charge'])
    if ([...run.tasks.values()].some((task) => task.place === place)) answer(run, place)
  const { id } = taskAt(run, 'charge')
  run.send(
    {
      kind: 'performed',
      task: id,
      outcome: { ok: false, error: { code: 'broken', message: 'no', retryable: false, ...error } },
    },
    0,
  )
  expect(summarizeRun(run.memory).status).toBe('failed')
  return run
}
const begun = (run: EngineRun) =>
  run.recorded.filter(({ entry }) => entry.kind === 'begun' && entry.place === 'charge').length
function chargeOf(run: EngineRun) {
  const task = taskAt(run, 'charge')
  if (task.kind !== 'perform') throw new Error(`charge is at ${task.kind}`)
  return task
}
const retried = (run: EngineRun, how = {}) => {
  run.send({ ...again, ...how }, 0)
  run.send({ kind: 'start' }, 0)
  return run
}

describe.each(Object.entries(effects))('a step of type %s', (_, effect) => {
  test.each([
    [{ retryable: true }, true],
    [{ retryable: false, uncertain: true }, true],
    [{ retryable: true, uncertain: false }, false],
    [{ retryable: false }, false],
  ])('that failed with %j keeps its key and input in retries until a definite answer: %s', (error, keeps) => {
    const run = failedBy(effect, error)
    const before = run.recorded.flatMap(({ entry }) => (entry.kind === 'begun' ? [entry.input] : []))
    for (let times = 0; times < 2; times++) {
      retried(run)
      if (!keeps) expect(taskAt(run, 'charge').kind).toBe('evaluate')
      if (!keeps) return
      expect(chargeOf(run).key).toBe(firstKey)
      expect([chargeOf(run).input]).toEqual(before)
      run.send(
        {
          kind: 'performed',
          task: chargeOf(run).id,
          outcome: { ok: false, error: { code: 'broken', message: 'no', ...error } },
        },
        0,
      )
    }
    retried(run, { newKey: true })
    answer(run, 'charge')
    expect(chargeOf(run).key).not.toBe(firstKey)
    expect(begun(run)).toBe(2)
  })

  test('keeps its key when the retry starts from that step, and when it is inside a container', () => {
    const error = { retryable: true }
    expect(chargeOf(retried(failedBy(effect, error), { from: 'charge' })).key).toBe(firstKey)
    const inner = (step: object) => ({
      type: 'parallel',
      id: 'around',
      branches: [{ name: 'a', steps: [step] }],
    })
    expect(chargeOf(retried(failedBy(effect, error, inner))).key).toBe(firstKey)
    const before = retried(failedBy(effect, error), { from: 'before' })
    answer(before, 'before')
    expect(taskAt(before, 'charge').kind).toBe('evaluate')
  })
})

describe('a child run of a step', () => {
  const steps = [{ type: 'workflow', id: 'sub', workflow: 'wf_01JZ8Q4D3N5W7X9Y2B4C6D8E0F', input: 1 }]
  const waiting = () => {
    const run = startRun({ steps })
    answer(run, 'sub')
    answer(run, 'sub')
    return run
  }
  const endings: [string, (run: EngineRun) => unknown][] = [
    [
      'failed',
      (run) =>
        run.send(
          {
            kind: 'child_ended',
            task: taskAt(run, 'sub').id,
            outcome: { ok: false, error: { code: 'broken', message: 'no', retryable: false } },
          },
          0,
        ),
    ],
    ['was cancelled with it', (run) => run.send({ kind: 'cancel', by: 'usr_a', reason: null }, 0)],
  ]
  test.each(endings)('that %s is continued by each retry of its parent, once per attempt', (_, end) => {
    const run = waiting()
    end(run)
    for (let attempt = 2; attempt < 4; attempt++) {
      retried(run)
      expect(summarizeRun(run.memory).abandonedRuns).toEqual([])
      expect(taskAt(run, 'sub')).toMatchObject({
        ...{ kind: 'start_run', goesOn: { runId: 'run_child', parentAttempt: attempt } },
      })
      answer(run, 'sub')
      expect(taskAt(run, 'sub')).toMatchObject({ kind: 'await', waiting: { for: 'run', runId: 'run_child' } })
      end(run)
    }
    retried(run, { from: 'sub' })
    expect(taskAt(run, 'sub').kind).toBe('evaluate')
    finish(run)
    expect(summarizeRun(run.memory)).toMatchObject({ status: 'completed', output: 'child' })
  })

  test('is retried only once by each attempt of its parent', () => {
    const run = startRun({ steps: [{ type: 'fail', id: 'no', message: 'no' }] })
    const fail = () => answer(run, 'no')
    fail()
    for (const parentAttempt of [2, 3]) {
      expect(run.send({ ...again, parentAttempt }, 0)).toHaveLength(1)
      run.send({ kind: 'start' }, 0)
      fail()
      expect(run.send({ ...again, parentAttempt }, 0)).toEqual([])
    }
    expect(run.send(again, 0)).toHaveLength(1)
  })
})

test('a retry keeps an approval, unless it repeats the approval step, which then needs new decisions', () => {
  const approve = { type: 'approval', id: 'ok', title: 'Go on?', approvers: { roles: ['admin'] } }
  const run = startRun({ steps: [approve, { type: 'fail', id: 'no', message: 'no' }] })
  answer(run, 'ok')
  answer(run, 'ok')
  answer(run, 'no')
  retried(run)
  expect([...run.tasks.values()].map(({ place }) => place)).toEqual(['no'])
  answer(run, 'no')
  retried(run, { from: 'ok' })
  answer(run, 'ok')
  const { id } = taskAt(run, 'ok')
  run.send({ kind: 'decision', task: id, decision: { by: 'usr_a', decision: 'reject', comment: null } }, 0)
  expect(summarizeRun(run.memory).error).toMatchObject({ code: 'approval_rejected', step: 'ok' })
  retried(run)
  answer(run, 'ok')
  expect(run.send(approval(taskAt(run, 'ok'), 'usr_a'), 0)).not.toEqual([])
  expect(run.send(goodAnswer(taskAt(run, 'no')), 0)).not.toEqual([])
})

test.each([
  ['an effect', { type: 'http', id: 's', url: 'https://example.com' }],
  ['a run', { type: 'workflow', id: 's', workflow: 'wf_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' }],
])('a journal in which a retry restarted %s keeps the key of the restart', (_, step) => {
  const run = startRun({ steps: [step] })
  answer(run, 's')
  if (step.type === 'workflow') answer(run, 's')
  run.send({ kind: 'cancel', by: 'usr_a', reason: null }, 0)
  retried(run)
  run.record({ kind: 'begun', place: 's', input: 'evaluated again' }, 0)
  const task = taskAt(run, 's')
  expect(task).toMatchObject({ key: sha256Hex(`${context.runId}:s:2`), input: 'evaluated again' })
  expect(task.kind === 'start_run' && task.goesOn).toBe(step.type === 'workflow' ? null : false)
})
