import { expect, test } from '@jest/globals'
import { answer, finish, started, taskAt } from './proof/driving.fixture.js'
import { trace } from './trace.js'

const http = (id: string, rest: object = {}) => ({ type: 'http', id, url: 'https://example.com', ...rest })
const broken = { code: 'http_503', message: 'no', retryable: true }

test('a trace shows steps in their places with attempts, errors and times, retries included', () => {
  const run = started({
    steps: [
      http('first', { name: 'First' }),
      {
        ...{ type: 'for_each', id: 'each', items: '{{ input.list }}', concurrency: 2 },
        steps: [http('call', { retry: { attempts: 2 } })],
      },
      {
        type: 'branch',
        id: 'choice',
        if: '{{ input.no }}',
        then: [http('never')],
        else: [{ type: 'transform', id: 'other', value: 1 }],
      },
    ],
    output: '{{ steps.choice.output }}',
  })
  answer(run, 'first', 1_000)
  answer(run, 'first', 2_000)
  answer(run, 'each', 3_000)
  answer(run, 'call[0]', 4_000)
  answer(run, 'call[1]', 5_000)
  const fail = (now: number) =>
    run.send(
      { kind: 'performed', task: taskAt(run, 'call[0]').id, outcome: { ok: false, error: broken } },
      now,
    )
  fail(6_000)
  const shown = () => trace(run.program, run.recorded)
  expect(shown().steps[1]?.lists[0]).toMatchObject({
    index: 0,
    steps: [{ status: 'retrying', attempts: [{ retryAt: 8_000 }] }],
  })
  run.send({ kind: 'tick' }, 8_000)
  fail(9_000)
  answer(run, 'call[1]', 10_000)
  expect(shown()).toMatchObject({
    steps: [
      {
        ...{
          place: 'first',
          name: 'First',
          type: 'http',
          status: 'completed',
          startedAt: 0,
          endedAt: 2_000,
          runAttempt: 1,
        },
        ...{ input: { url: 'https://example.com' }, output: 'output of first' },
        attempts: [{ number: 1, startedAt: 1_000, endedAt: 2_000, error: null }],
      },
      {
        ...{ place: 'each', status: 'failed', error: broken, endedAt: 10_000 },
        lists: [
          {
            index: 0,
            steps: [
              {
                status: 'failed',
                attempts: [{ error: broken }, { number: 2, endedAt: 9_000, error: broken }],
              },
            ],
          },
          { index: 1, steps: [{ place: 'call[1]', status: 'completed', endedAt: 10_000 }] },
        ],
      },
    ],
    changes: [{ kind: 'started' }, { kind: 'ended', at: 10_000 }],
  })

  run.send({ kind: 'retry', by: 'usr_a', from: null }, 20_000)
  run.send({ kind: 'start' }, 21_000)
  finish(run, 22_000)
  const { steps, output, changes } = shown()
  expect(steps.map(({ place, status, runAttempt }) => [place, status, runAttempt])).toEqual([
    ['first', 'completed', 1],
    ['each', 'completed', 1],
    ['choice', 'completed', 2],
  ])
  expect(
    steps[1]?.lists.map(({ index, steps }) => [index, steps[0]?.status, steps[0]?.attempts.length]),
  ).toEqual([
    [0, 'completed', 3],
    [1, 'completed', 1],
    [2, 'completed', 1],
  ])
  expect(steps[2]?.lists).toMatchObject([{ key: 'else', steps: [{ place: 'other' }] }])
  expect(output).toMatchObject({ status: 'completed', output: 1 })
  expect(changes.map(({ kind, by }) => [kind, by])).toEqual([
    ['started', null],
    ['ended', null],
    ['retried', 'usr_a'],
    ['started', null],
    ['ended', null],
  ])
})

test('what was under way when a run was cancelled is shown as cut off, its containers too', () => {
  const branches = [
    { name: 'a', steps: [http('a')] },
    { name: 'b', steps: [{ type: 'wait', id: 'b', seconds: 60 }] },
  ]
  const run = started({ steps: [{ type: 'parallel', id: 'both', branches }] })
  answer(run, 'a', 1_000)
  answer(run, 'b', 1_000)
  run.send({ kind: 'cancel', by: 'usr_a', reason: null }, 2_000)
  const cut = { status: 'cut_off', endedAt: 2_000 }
  expect(trace(run.program, run.recorded)).toMatchObject({
    steps: [
      {
        ...cut,
        lists: [
          { key: 'a', steps: [cut] },
          { key: 'b', steps: [{ ...cut, waiting: { for: 'time' } }] },
        ],
      },
    ],
    changes: [{}, { kind: 'cancelling', by: 'usr_a' }, {}],
  })
})
