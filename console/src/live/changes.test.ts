import { describe, expect, test } from '@jest/globals'
import { createBatches } from './batches.js'
import { findChanges, isChanged } from './changes.js'
import { computeLiveness } from './live-view.js'

const message = (event: string | undefined, data: object = {}) => ({
  ...{ id: undefined, event, data: JSON.stringify(data), retryMs: undefined },
})
const incident = message('event', { resource: { type: 'incident', id: 'inc_1' }, requestId: 'req-1' })
const webhook = message('event', { resource: { type: 'webhook', id: 'wh_1' }, requestId: null })
const someRuns = message('changed', { type: 'run', ids: ['run_1'] })
const manyRuns = message('changed', { type: 'run', ids: ['run_1'], isMore: true })
const delivery = message('changed', { type: 'delivery', ids: ['del_1'] })

describe('refetching after a message of the stream', () => {
  test.each([
    ['the log at every event', incident, ['events', { type: 'x' }, 'now', 0, null], true],
    ['what the request of an event has caused', incident, ['related', 'req-1'], true],
    ['what another request has caused', incident, ['related', 'req-2'], false],
    ['an event, which never changes', incident, ['event', 'evt_1'], false],
    ['webhooks when one changes', webhook, ['webhooks'], true],
    ['a webhook when it changes', webhook, ['webhook', 'wh_1'], true],
    ['another webhook', webhook, ['webhook', 'wh_2'], false],
    ['webhooks when something else changes', incident, ['webhooks'], false],
    ['lists of deliveries', delivery, ['deliveries', 'latest', 'wh_1'], true],
    ['a delivery that has changed', delivery, ['delivery', 'del_1', 'wh_1'], true],
    ['another delivery', delivery, ['delivery', 'del_2', 'wh_1'], false],
    ['runs at a change of deliveries', delivery, ['runs'], false],
    ['a run that is not named', someRuns, ['run', 'run_2'], false],
    ['every run where more changed than are named', manyRuns, ['run', 'run_2'], true],
    ['everything where too much was missed', message('reset'), ['users'], true],
    ['nothing at a heartbeat', message(undefined), ['events'], false],
    ['nothing of a kind that is not known', message('changed', { type: 'new', ids: [] }), ['events'], false],
  ])('decides correctly whether to refetch %s', (_, sent, key, isAsked) => {
    expect(isChanged(key, findChanges(sent, false))).toBe(isAsked)
  })

  test('refetches resources that change without events once an interrupted stream continues', () => {
    for (const key of ['deliveries', 'delivery', 'runs', 'run', 'executions', 'failures']) {
      expect([key, isChanged([key, 'x'], findChanges(message('ready'), false))]).toEqual([key, true])
      expect([key, isChanged([key, 'x'], findChanges(message('ready'), true))]).toEqual([key, false])
    }
    expect(isChanged(['events'], findChanges(message('ready'), false))).toBe(false)
  })
})

test('passes the first items on after 50 ms, and batches the following ones once a second', () => {
  const passed: (readonly number[])[] = []
  const due: { ms: number; call: () => void }[] = []
  const after = (ms: number, call: () => void) => {
    due.push({ ms, call })
    return () => {
      due.splice(0)
    }
  }
  const pass = (ms: number) => {
    expect(due.map((each) => each.ms)).toEqual([ms])
    due.shift()?.call()
  }
  const turns = createBatches<number>({ after }, (items) => passed.push(items))
  turns.put([])
  expect(due).toEqual([])
  turns.put([1])
  turns.put([2])
  pass(50)
  turns.put([3])
  turns.put([4])
  pass(1_000)
  expect(passed).toEqual([
    [1, 2],
    [3, 4],
  ])
  // After a pause, the next batch is passed on quickly again.
  pass(1_000)
  turns.put([5])
  pass(50)
  turns.put([6])
  turns.stop()
  expect([passed.length, due]).toEqual([3, []])
})

test.each([
  ['connecting', 0, 'connecting'],
  ['live', 10_000, 'live'],
  ['live', 40_000, 'stale'],
  ['reconnecting', 5_000, 'reconnecting'],
  ['reconnecting', 20_000, 'stale'],
  ['connecting', 20_000, 'stale'],
  ['ended', 0, 'stale'],
] as const)('a page whose stream is %s and was silent for %s ms is %s', (state, silentMs, liveness) => {
  expect(computeLiveness({ state, heardMs: 0 }, silentMs, 35_000)).toBe(liveness)
})
