import { describe, expect, test } from '@jest/globals'
import { RunStatus, runActions, type StepType } from '@opsplane/contracts'
import { sha256Hex } from '@opsplane/runtime'
import { allowedRunActions, canBecome, isFinal, runEvent, runStateMachine } from '../run-states.js'
import type { Signal } from '../signal.js'
import { summarizeRun } from '../summary.js'
import { answer, approval, finish, goodAnswer, startRun, taskAt } from './driving.fixture.js'
import { context, type EngineRun } from './engine-run.fixture.js'

/** A step as written by users. */
type Step = { type: StepType; id: string } & Record<string, unknown>

const http = (id: string) => ({ type: 'http', id, url: 'https://example.com' }) as const
const effects: Step[] = [
  { ...http('s'), retry: { delaySeconds: 200 } },
  { type: 'api', id: 's', operation: 'getIncident', retry: { delaySeconds: 200 } },
  {
    type: 'connector',
    id: 's',
    connector: 'con_01JZ8Q4D3N5W7X9Y2B4C6D8E0F',
    action: 'call',
    retry: { delaySeconds: 200 },
  },
  { type: 'publish', id: 's', topic: 'orders', eventType: 'made', payload: {}, retry: { delaySeconds: 200 } },
]
const workflow = { type: 'workflow', id: 's', workflow: 'wf_01JZ8Q4D3N5W7X9Y2B4C6D8E0F' } as const
const approve = {
  type: 'approval',
  id: 's',
  title: 'Go on?',
  approvers: { roles: ['admin'] },
  quorum: 2,
} as const
const containers: Step[] = [
  { type: 'branch', id: 's', if: '{{ input.yes }}', then: [http('inner')] },
  { type: 'switch', id: 's', value: '{{ input.yes }}', cases: [{ equals: true, steps: [http('inner')] }] },
  { type: 'for_each', id: 's', items: '{{ input.list }}', concurrency: 2, steps: [http('inner')] },
]
const parallel: Step = {
  ...{ type: 'parallel', id: 's' },
  branches: [
    { name: 'a', steps: [http('inner')] },
    { name: 'b', steps: [http('parallel')] },
  ],
}
const simple: Step[] = [
  { type: 'transform', id: 's', value: 1 },
  { type: 'stop', id: 's', output: 2 },
  { type: 'fail', id: 's', message: 'no' },
  { type: 'wait', id: 's', seconds: 200 },
  { type: 'wait', id: 's', event: { types: ['incident.created'] } },
  approve,
  workflow,
  ...effects,
  ...containers,
]

const failedAttempt = (run: EngineRun): Signal => ({
  ...{ kind: 'performed', task: taskAt(run, 's').id },
  outcome: { ok: false, error: { code: 'http_503', message: 'no', retryable: true } },
})

interface Moment {
  name: string
  step: Step
  status: RunStatus
  /** Brings the run to this moment; the step has begun and is to be evaluated. */
  reach(run: EngineRun): void
  /** Tasks requested when the run is cancelled at this moment and retried. */
  again: string[]
}
const once = (run: EngineRun) => void answer(run, 's')

const moments: Moment[] = [
  ...simple.map(
    (step): Moment => ({
      name: 'evaluated',
      step,
      status: 'running',
      reach: () => {},
      again: ['evaluate s'],
    }),
  ),
  ...effects.map(
    (step): Moment => ({ name: 'performed', step, status: 'running', reach: once, again: ['perform s'] }),
  ),
  ...effects.map(
    (step): Moment => ({
      ...{ name: 'between two attempts', step, status: 'waiting', again: ['perform s'] },
      reach: (run) => {
        once(run)
        run.send(failedAttempt(run), 0)
      },
    }),
  ),
  { name: 'started', step: workflow, status: 'running', reach: once, again: ['start_run s'] },
  {
    ...{ name: 'waiting for its run', step: workflow, status: 'waiting', again: ['start_run s'] },
    reach: (run) => {
      once(run)
      once(run)
    },
  },
  ...simple
    .slice(3, 5)
    .map(
      (step): Moment => ({ name: 'waiting', step, status: 'waiting', reach: once, again: ['evaluate s'] }),
    ),
  {
    ...{ name: 'approved by one of two', step: approve, status: 'paused', again: ['evaluate s'] },
    reach: (run) => {
      once(run)
      run.send(approval(taskAt(run, 's'), 'usr_a'), 0)
    },
  },
  ...containers.map((step): Moment => {
    const places = step.type === 'for_each' ? ['inner[0]', 'inner[1]'] : ['inner']
    return {
      ...{ name: 'open', step, status: 'running', again: places.map((place) => `perform ${place}`) },
      reach: (run) => {
        for (const place of ['s', ...places]) answer(run, place)
      },
    }
  }),
  {
    ...{ name: 'open', step: parallel, status: 'running', again: ['perform inner', 'evaluate parallel'] },
    reach: (run) => void answer(run, 'inner'),
  },
]

/** A run whose step has reached this moment, after a step that completed. */
function arrive({ step, reach }: Moment, timeoutSeconds = 86_400): EngineRun {
  const run = startRun({
    timeoutSeconds,
    steps: [http('first'), step, { type: 'transform', id: 'last', value: 'end' }],
  })
  answer(run, 'first')
  answer(run, 'first')
  reach(run)
  return run
}
const asked = (run: EngineRun) => [...run.tasks.values()].map(({ kind, place }) => `${kind} ${place}`)
const statusOf = (run: EngineRun) => summarizeRun(run.memory).status
const keys = (run: EngineRun) =>
  [...run.tasks.values()].flatMap((task) => (task.kind === 'perform' ? [task.key] : []))
const timesBegun = (run: EngineRun, place: string) =>
  run.recorded.filter(({ entry }) => entry.kind === 'begun' && entry.place === place).length
const cancel = { kind: 'cancel', by: 'usr_a', reason: 'not needed' } as const
const retry = { kind: 'retry', by: 'usr_a', from: null } as const
const abandon = { kind: 'abandon', code: 'rights_gone', message: 'gone' } as const
/** Final statuses with the signal that leads there; `seconds` is the time limit of the run. */
const endings: [RunStatus, Signal, { seconds: number; now: number }][] = [
  ['cancelled', cancel, { seconds: 86_400, now: 5_000 }],
  ['dead', abandon, { seconds: 86_400, now: 5_000 }],
  ['failed', { kind: 'tick' }, { seconds: 100, now: 100_000 }],
]

describe.each(moments.map((moment) => [moment.step.type, moment.name, moment] as const))(
  'a run at a step of type %s, %s',
  (_, __, moment) => {
    test.each(endings)(
      'becomes %s, and continues from there when retried',
      (ended, signal, { seconds, now }) => {
        const run = arrive(moment, seconds)
        expect(statusOf(run)).toBe(moment.status)
        const [before, keysBefore] = [[...run.tasks.values()], keys(run)]
        run.send(signal, now)
        expect(summarizeRun(run.memory)).toMatchObject({
          status: ended,
          nextDue: null,
          endedAt: now,
          error: { step: null },
        })
        expect(asked(run)).toEqual([])
        for (const task of before) expect(run.send(goodAnswer(task), now)).toEqual([])
        expect(run.send({ kind: 'tick' }, now * 1_000)).toEqual([])

        expect(run.send(retry, now)).toEqual([{ kind: 'retried', by: 'usr_a', from: null }])
        expect([statusOf(run), asked(run)]).toEqual(['queued', []])
        run.send({ kind: 'start' }, now)
        expect(asked(run)).toEqual(moment.again)
        const known =
          moment.name === 'between two attempts' ? [sha256Hex(`${context.runId}:s:1`)] : keysBefore
        expect(keys(run)).toEqual(moment.again[0]?.startsWith('perform') ? known : [])
        finish(run, now)
        const isTooLong = moment.step.seconds === 200 && seconds === 100
        expect(statusOf(run)).toBe(moment.step.type === 'fail' || isTooLong ? 'failed' : 'completed')
        expect(summarizeRun(run.memory).attempt).toBe(2)
        // Successful steps are not repeated.
        expect(timesBegun(run, 'first')).toBe(1)
      },
    )

    test('is resumed by a decision only if it awaits one', () => {
      const run = arrive(moment)
      const isAwaited = moment.name === 'approved by one of two'
      for (const task of [...run.tasks.values()]) {
        expect(run.send(approval(task, 'usr_a'), 0)).toEqual([])
        expect(run.send(approval(task, 'usr_b'), 0).length > 0).toBe(isAwaited)
      }
      if (isAwaited) expect(asked(run)).toEqual(['evaluate last'])
    })

    test('repeats the step when it is retried from an earlier step', () => {
      const run = arrive(moment)
      run.send(cancel, 0)
      run.send({ ...retry, from: 'first' }, 0)
      run.send({ kind: 'start' }, 0)
      expect(asked(run)).toEqual(['evaluate first'])
      finish(run)
      const keysOfFirst = run.recorded.filter(
        ({ entry }) => entry.kind === 'begun' && entry.place === 'first',
      )
      expect(keysOfFirst).toHaveLength(2)
    })
  },
)

/** A run in each status. */
function inStatus(status: RunStatus): EngineRun {
  const run = startRun({ steps: [http('only')] })
  if (status === 'queued') {
    run.send(cancel, 0)
    run.send(retry, 0)
  }
  if (status === 'completed') finish(run)
  if (status === 'cancelled') run.send(cancel, 0)
  if (status === 'dead') run.send(abandon, 0)
  if (status === 'failed') run.send({ kind: 'tick' }, 30 * 86_400_000)
  if (status === 'waiting' || status === 'paused') {
    const paused = startRun({
      steps: [status === 'paused' ? { ...approve, quorum: 1 } : { type: 'wait', id: 's', seconds: 5 }],
    })
    once(paused)
    return paused
  }
  return run
}

describe.each(RunStatus.options)('a run that is %s', (status) => {
  test('accepts exactly the actions that its status allows', () => {
    expect(statusOf(inStatus(status))).toBe(status)
    const signals: Record<(typeof runActions)[number], (run: EngineRun) => Signal[]> = {
      cancel: () => [cancel],
      retry: (run) => [{ ...retry, from: run.program.main.nodes[0]?.id ?? null }],
      resume: (run) => [...run.tasks.values()].map((task) => approval(task, 'usr_a')),
    }
    for (const action of runActions) {
      const run = inStatus(status)
      const entries = signals[action](run).flatMap((signal) => run.send(signal, 0))
      // An approval awaited while other steps are active can be decided in this status, but need not exist.
      if (action === 'resume' && status === 'running') continue
      expect([action, entries.length > 0]).toEqual([action, allowedRunActions(status).includes(action)])
      if (entries.length > 0) expect(canBecome(status, statusOf(run))).toBe(true)
    }
  })

  test('can be retried only if failed, cancelled or dead, and not from an unknown step', () => {
    const first = inStatus(status).program.main.nodes[0]?.id ?? null
    for (const from of [null, first])
      expect(inStatus(status).send({ ...retry, from }, 0).length > 0).toBe(
        ['failed', 'cancelled', 'dead'].includes(status),
      )
    expect(inStatus(status).send({ ...retry, from: 'nowhere' }, 0)).toEqual([])
  })

  test('can be abandoned only while it has not ended', () => {
    const entries = inStatus(status).send(abandon, 0)
    expect(entries.length > 0).toBe(!isFinal(status))
  })
})

test('every status change has its event, and the published state machine matches the transition table', () => {
  expect(runEvent('queued', 'running')).toBe('workflow.run_started')
  expect(runEvent('running', 'paused')).toBe('workflow.run_paused')
  expect(runEvent('paused', 'running')).toBe('workflow.run_resumed')
  expect(runEvent('waiting', 'running')).toBeNull()
  expect(runEvent('failed', 'queued')).toBe('workflow.run_retried')
  for (const status of ['completed', 'failed', 'cancelled', 'dead'] as const)
    expect(runEvent('running', status)).toBe(`workflow.run_${status}`)
  for (const { action, from, to } of runStateMachine.transitions) {
    const [status, targets] = [RunStatus.parse(from), to.map((each) => RunStatus.parse(each))]
    expect(targets.every((each) => canBecome(status, each))).toBe(true)
    if (runActions.some((each) => each === action)) expect(allowedRunActions(status)).toContain(action)
  }
})
