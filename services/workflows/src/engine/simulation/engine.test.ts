import { describe, expect, test } from '@jest/globals'
import type { Outcome } from '../signal.js'
import { summarizeRun } from '../summary.js'
import { listAwaitedInputs } from '../tasks.js'
import { answer, approval, finish, startRun, taskAt } from './driving.fixture.js'
import type { EngineRun } from './engine-run.fixture.js'

const http = (id: string, rest: object = {}) => ({ type: 'http', id, url: 'https://example.com', ...rest })
const transform = (id: string, value: unknown = id) => ({ type: 'transform', id, value })
const kinds = (run: EngineRun) => run.recorded.map(({ entry }) => entry.kind)
const asked = (run: EngineRun) => [...run.tasks.values()].map(({ kind, place }) => `${kind} ${place}`)
const summary = (run: EngineRun) => summarizeRun(run.memory)
const performed = (run: EngineRun, place: string, outcome: Outcome, now = 0) =>
  run.send({ kind: 'performed', task: taskAt(run, place).id, outcome }, now)
const broken = (rest: object = {}): Outcome => ({
  ok: false,
  error: { code: 'http_503', message: 'no', retryable: true, ...rest },
})
/** Evaluates the step at a place, so that it begins. */
const begin = (run: EngineRun, place: string) => answer(run, place)

test('a run of three transforms has one entry for each, and the last is recorded together with the end', () => {
  const run = startRun({
    steps: [
      transform('a', { list: '{{ input.list }}' }),
      transform('b', '{{ steps.a.output.list }}'),
      transform('c', ['{{ steps.b.output }}']),
    ],
  })
  expect(answer(run, 'a').map(({ kind }) => kind)).toEqual(['completed'])
  answer(run, 'b')
  expect(answer(run, 'c').map(({ kind }) => kind)).toEqual(['completed', 'ended'])
  expect(kinds(run)).toEqual(['started', 'completed', 'completed', 'completed', 'ended'])
  expect(summary(run)).toMatchObject({ status: 'completed', output: [['a', 'b', 'c']], error: null })
})

test('expressions receive only the run, the loop item and the steps that they reference', () => {
  const run = startRun({
    steps: [
      transform('a'),
      transform('b'),
      {
        type: 'for_each',
        id: 'each',
        items: '{{ input.list }}',
        steps: [transform('seen', '{{ [item, index, steps.a.output] }}')],
      },
      transform('all', '{{ $keys(steps) }}'),
    ],
  })
  for (const place of ['a', 'b', 'each']) answer(run, place)
  const a = { output: 'a', error: null, status: 'completed' }
  expect(taskAt(run, 'seen[0]')).toMatchObject({ scope: { item: 'a', index: 0, steps: { a } } })
  expect(Object.keys((taskAt(run, 'seen[0]') as { scope: object }).scope)).toEqual(['steps', 'item', 'index'])
  for (const index of [0, 1, 2])
    run.send(
      { kind: 'evaluated', task: taskAt(run, `seen[${index}]`).id, values: [{ ok: true, value: index }] },
      0,
    )
  const { scope } = taskAt(run, 'all') as unknown as { scope: { steps: object; run: object } }
  expect(Object.keys(scope.steps)).toEqual(['a', 'b', 'each'])
})

describe('a failed attempt', () => {
  const retry = { attempts: 3, strategy: 'exponential', delaySeconds: 2, maxDelaySeconds: 60 }

  test('is repeated with the same key after the delay, until no attempts are left', () => {
    const run = startRun({ steps: [http('call', { retry })] })
    begin(run, 'call')
    const [first] = run.tasks.values()
    expect(performed(run, 'call', broken(), 1_000)).toMatchObject([{ retryAt: 3_000 }])
    expect([summary(run).status, summary(run).nextDue, asked(run)]).toEqual(['waiting', 3_000, []])
    expect(run.send({ kind: 'tick' }, 2_999)).toEqual([])
    expect(run.send({ kind: 'tick' }, 3_000)).toMatchObject([{ kind: 'retry_due', attempt: 2 }])
    expect(taskAt(run, 'call')).toMatchObject({ attempt: 2, key: first?.kind === 'perform' && first.key })
    expect(performed(run, 'call', broken(), 4_000)).toMatchObject([{ retryAt: 8_000 }])
    run.send({ kind: 'tick' }, 8_000)
    performed(run, 'call', broken(), 9_000)
    expect(summary(run)).toMatchObject({ status: 'failed', error: { code: 'http_503', step: 'call' } })
  })

  test('is repeated after the delay that the error requests, up to the maximum of the retry policy', () => {
    const retryAtFor = (retryAfterMs: number) => {
      const run = startRun({ steps: [http('call', { retry })] })
      begin(run, 'call')
      return performed(run, 'call', broken({ retryAfterMs }))[0]
    }
    expect(retryAtFor(20_000)).toMatchObject({ retryAt: 20_000 })
    expect(retryAtFor(900_000)).toMatchObject({ retryAt: 60_000 })
  })

  test('is the last one if the error is not retryable or the step has no retry policy', () => {
    const run = startRun({ steps: [http('call', { retry })] })
    begin(run, 'call')
    performed(run, 'call', broken({ retryable: false }))
    const without = startRun({ steps: [http('call')] })
    begin(without, 'call')
    performed(without, 'call', broken())
    expect([summary(run).status, summary(without).status]).toEqual(['failed', 'failed'])
  })
})

describe('a failure', () => {
  const branches = (concurrency?: number) => ({
    ...{ type: 'parallel', id: 'both', concurrency },
    branches: [
      { name: 'a', steps: [http('a'), http('after_a')] },
      { name: 'b', steps: [http('b')] },
      { name: 'c', steps: [http('c')] },
    ],
  })

  test('in a branch lets started effects finish, and starts no others', () => {
    const run = startRun({ steps: [branches()] })
    begin(run, 'a')
    begin(run, 'b')
    expect(performed(run, 'b', broken()).map(({ kind }) => kind)).toEqual(['attempt_failed', 'failed'])
    expect(asked(run)).toEqual(['perform a'])
    expect(performed(run, 'a', { ok: true, output: 1 }).map(({ kind }) => kind)).toEqual([
      'completed',
      'ended',
    ])
    expect(summary(run)).toMatchObject({ status: 'failed', error: { step: 'b' } })

    run.send({ kind: 'retry', by: 'usr_a', from: null }, 0)
    run.send({ kind: 'start' }, 0)
    expect(asked(run)).toEqual(['evaluate after_a', 'perform b', 'evaluate c'])
  })

  test('with continueOnError leaves null as the output and the error on the step', () => {
    const run = startRun({
      steps: [{ ...branches(), continueOnError: true }, transform('seen', '{{ steps.both.error.code }}')],
    })
    begin(run, 'b')
    performed(run, 'b', broken())
    finish(run)
    expect(summary(run)).toMatchObject({ status: 'completed', output: 'http_503' })
  })

  test('is visible to the onFailure steps, and remains the error of the run even if one of them fails', () => {
    const onFailure = [transform('seen', ['{{ failure.step }}', '{{ steps.before.output }}']), http('notify')]
    const run = startRun({ steps: [transform('before'), http('call')], onFailure })
    answer(run, 'before')
    begin(run, 'call')
    expect(performed(run, 'call', broken()).at(-1)).toMatchObject({ kind: 'failed' })
    expect(answer(run, 'seen')).toMatchObject([{ output: ['call', 'before'] }])
    begin(run, 'notify')
    performed(run, 'notify', broken({ code: 'http_500' }))
    expect(summary(run)).toMatchObject({
      status: 'failed',
      error: { code: 'http_503', step: 'call', details: { onFailure: { code: 'http_500', step: 'notify' } } },
    })
  })

  test('of an expression is reported as an error of its step, with its position', () => {
    const run = startRun({ steps: [transform('a', '{{ 1 + "x" }}')] })
    const error = { code: 'expression_error', message: 'wants numbers', path: '', position: 2 } as const
    run.send({ kind: 'evaluated', task: taskAt(run, 'a').id, values: [{ ok: false, error }] }, 0)
    expect(summary(run).error).toMatchObject({
      code: 'expression_error',
      step: 'a',
      details: { position: 2 },
    })
  })
})

test('a run that exceeds its timeout fails, and its onFailure steps have the same time again', () => {
  const run = startRun({
    steps: [http('call')],
    onFailure: [{ type: 'wait', id: 'w', seconds: 50 }],
    timeoutSeconds: 10,
  })
  begin(run, 'call')
  expect(run.send({ kind: 'tick' }, 10_000)).toMatchObject([{ kind: 'failed', place: '' }])
  answer(run, 'w', 10_000)
  expect(summary(run).nextDue).toBe(20_000)
  run.send({ kind: 'tick' }, 20_000)
  expect(summary(run)).toMatchObject({
    status: 'failed',
    endedAt: 20_000,
    error: { code: 'run_timeout', step: null },
  })
})

describe('an approval', () => {
  const step = {
    ...{ type: 'approval', id: 'ok', title: 'Go on?', approvers: { users: ['usr_a', 'usr_b', 'usr_c'] } },
    ...{ quorum: 2, deadlineSeconds: 100, reminderSeconds: 40 },
  }
  const asking = (...after: object[]) => {
    const run = startRun({ steps: [step, ...after] })
    answer(run, 'ok')
    return run
  }
  const reject = (run: EngineRun, by: string) =>
    run.send(
      { kind: 'decision', task: taskAt(run, 'ok').id, decision: { by, decision: 'reject', comment: 'no' } },
      0,
    )

  test('requires its quorum, with one decision per person', () => {
    const run = asking()
    expect(summary(run).status).toBe('paused')
    expect(listAwaitedInputs(run.memory)).toMatchObject([
      { place: 'ok', waiting: { approval: { quorum: 2 } } },
    ])
    run.send(approval(taskAt(run, 'ok'), 'usr_a'), 0)
    expect(run.send(approval(taskAt(run, 'ok'), 'usr_a'), 0)).toEqual([])
    run.send(approval(taskAt(run, 'ok'), 'usr_b'), 0)
    expect(summary(run).output).toMatchObject({
      approved: true,
      expired: false,
      decisions: [{ by: 'usr_a' }, { by: 'usr_b' }],
    })
  })

  const transform = { type: 'transform', id: 'seen', value: { ok: '{{ steps.ok.output.approved }}' } }
  const branch = (read: string) => ({ type: 'branch', id: 'which', if: read, then: [http('go')] })
  const choice = {
    type: 'switch',
    id: 'which',
    value: '{{ steps.ok.output.approved }}',
    cases: [{ equals: true, steps: [http('go')] }],
  }
  const [failed, goesOn] = [
    ['failed', 'ok'],
    ['running', null],
  ]
  test.each([
    ['nothing follows', [], failed],
    ['no branch reads it', [transform, http('go')], failed],
    ['a branch reads something else', [transform, branch('{{ input.yes }}')], failed],
    ['a branch reads it', [branch('{{ steps.ok.output.approved }}')], goesOn],
    ['a switch reads it', [choice], goesOn],
    ['a branch reads it by a transform', [transform, branch('{{ steps.seen.output.ok }}')], goesOn],
  ])(
    'that is rejected or expires fails the run unless a later branch reads the decision: %s',
    (_, after, expected) => {
      for (const refuse of [
        (run: EngineRun) => reject(run, 'usr_b'),
        (run: EngineRun) => run.send({ kind: 'tick' }, 100_000),
      ]) {
        const run = asking(...after)
        run.send(approval(taskAt(run, 'ok'), 'usr_a'), 0)
        refuse(run)
        const { status, error } = summary(run)
        expect([status, error?.step ?? null]).toEqual(expected)
      }
    },
  )

  test('sends reminders, and expires at its deadline: a decision at that time is too late', () => {
    const run = asking()
    expect(run.send({ kind: 'tick' }, 40_000)).toEqual([{ kind: 'reminded', place: 'ok', remindAt: 80_000 }])
    expect(run.send({ kind: 'tick' }, 80_000)).toEqual([{ kind: 'reminded', place: 'ok', remindAt: null }])
    expect(summary(run).nextDue).toBe(100_000)
    run.send(approval(taskAt(run, 'ok'), 'usr_a'), 100_000)
    expect(summary(run).error).toMatchObject({ code: 'approval_expired', details: { decisions: [] } })
  })

  test('with fewer approvers than its quorum fails instead of waiting forever', () => {
    const run = startRun({ steps: [{ ...step, approvers: { users: ['usr_a', 'usr_a', ''] } }] })
    answer(run, 'ok')
    expect(summary(run).error).toMatchObject({ code: 'too_few_approvers' })
  })
})

test('a stop step ends the run from any branch, after started effects have finished', () => {
  const branches = [
    { name: 'a', steps: [http('a')] },
    { name: 'b', steps: [{ type: 'stop', id: 'enough', output: 'enough' }] },
  ]
  const run = startRun({ steps: [{ type: 'parallel', id: 'both', branches }, transform('never')] })
  begin(run, 'a')
  answer(run, 'enough')
  expect(asked(run)).toEqual(['perform a'])
  performed(run, 'a', { ok: true, output: 1 })
  expect(summary(run)).toMatchObject({ status: 'completed', output: 'enough' })
})

test('a child run that is no longer awaited is reported as abandoned once', () => {
  const child = { type: 'workflow', id: 'child', workflow: 'wf_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' }
  const branches = [
    { name: 'a', steps: [child] },
    { name: 'b', steps: [{ type: 'fail', id: 'no', message: 'no' }] },
  ]
  const run = startRun({ steps: [{ type: 'parallel', id: 'both', branches }] })
  answer(run, 'child')
  answer(run, 'no')
  // The child run is being started at that moment: its id becomes known later.
  expect([summary(run).status, summary(run).abandonedRuns]).toEqual(['running', []])
  answer(run, 'child')
  expect(summary(run)).toMatchObject({ status: 'failed', abandonedRuns: ['run_child'] })
})

test('pins replace the outputs of steps, by id or place, including steps that contain others', () => {
  const each = {
    type: 'for_each',
    id: 'each',
    items: '{{ input.list }}',
    concurrency: 3,
    steps: [http('call')],
  }
  const both = { type: 'parallel', id: 'both', branches: [{ name: 'a', steps: [http('a')] }] }
  const run = startRun(
    { steps: [each, both], output: ['{{ steps.each.output }}', '{{ steps.both.output }}'] },
    { call: 1, 'call[1]': 2, both: 3 },
  )
  for (const place of ['each', 'call[0]', 'call[1]', 'call[2]', 'both', '$output']) answer(run, place)
  expect(summary(run)).toMatchObject({ status: 'completed', output: [[1, 2, 1], 3] })
  expect(kinds(run)).not.toContain('begun')
})

test.each([
  ['entries', { entries: 6, bytes: 1e9 }],
  ['bytes', { entries: 1e9, bytes: 300 }],
])('a journal with too many %s ends the run as dead', (_, limits) => {
  const run = startRun({
    steps: [{ type: 'for_each', id: 'each', items: '{{ input.list }}', steps: [http('call')] }],
  })
  Object.assign(run, { limits })
  finish(run)
  expect(summary(run)).toMatchObject({ status: 'dead', error: { code: 'history_too_long' } })
  expect(run.send({ kind: 'retry', by: 'usr_a', from: null }, 0)).toEqual([])
})

test.each([
  [{ seconds: 'soon' }, 'invalid_wait'],
  [{ until: 'tomorrow' }, 'invalid_wait'],
  [{ until: '2999-01-01T00:00:00Z' }, 'invalid_wait'],
])('a wait with %j fails', (rest, code) => {
  const run = startRun({ steps: [{ type: 'wait', id: 'w', ...rest }] })
  answer(run, 'w')
  expect(summary(run).error).toMatchObject({ code, step: 'w' })
})

test('a for_each treats a single value as one item and null as none, and fails above its maximum of items', () => {
  const outputFor = (items: string) => {
    const run = startRun({
      steps: [{ type: 'for_each', id: 'each', items, maxItems: 2, steps: [transform('t', '{{ item }}')] }],
    })
    finish(run)
    const { output, error } = summary(run)
    return error?.code ?? output
  }
  expect(
    ['{{ input.yes }}', '{{ input.gone }}', '{{ input.none }}', '{{ input.list }}'].map(outputFor),
  ).toEqual([...[[true], [], [], 'too_many_items']])
})
