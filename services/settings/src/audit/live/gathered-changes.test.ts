import { expect, test } from '@jest/globals'
import { type ChangedSignal, ChangedType, maxChangedIds } from '@opsplane/contracts'
import { gatherChanges } from './gathered-changes.js'

/** Records the sent frames and replaces the timer with one that the test fires. */
function started() {
  const sent: string[] = []
  let timer: (() => void) | undefined
  const gathered = gatherChanges(({ frame }) => sent.push(frame), {
    setTimeout: (act) => {
      timer = act
      return { unref: () => {} }
    },
    clearTimeout: () => {
      timer = undefined
    },
  })
  return {
    ...gathered,
    sent: () => sent.splice(0),
    fire() {
      const act = timer
      timer = undefined
      act?.()
    },
  }
}
const frame = (signal: ChangedSignal) => `event: changed\ndata: ${JSON.stringify(signal)}\n\n`
const ids = (count: number) => Array.from({ length: count }, (_, at) => `run_${at}`)

test('sends the first change immediately, and combines the changes of the following second by type', () => {
  const { add, sent, fire } = started()
  add({ type: 'run', ids: ['run_1'] })
  expect(sent()).toEqual([frame({ type: 'run', ids: ['run_1'] })])
  add({ type: 'run', ids: ['run_1', 'run_2'] })
  add({ type: 'delivery', ids: ['del_1'] })
  add({ type: 'run', ids: ['run_2', 'run_3'] })
  expect(sent()).toEqual([])
  fire()
  const gathered = frame({ type: 'run', ids: ['run_1', 'run_2', 'run_3'] })
  expect(sent()).toEqual([gathered, frame({ type: 'delivery', ids: ['del_1'] })])
  fire()
  add({ type: 'run', ids: ['run_4'] })
  expect(sent()).toEqual([frame({ type: 'run', ids: ['run_4'] })])
})

test('marks a message as incomplete beyond the maximum number of ids and after a loss', () => {
  const { add, missed, sent, fire } = started()
  missed()
  expect(sent()).toEqual(ChangedType.options.map((type) => frame({ type, ids: [], isMore: true })))
  add({ type: 'run', ids: ids(maxChangedIds) })
  add({ type: 'run', ids: ['run_beyond'] })
  add({ type: 'delivery', ids: [], isMore: true })
  add({ type: 'delivery', ids: ['del_1'] })
  fire()
  expect(sent()).toEqual([
    frame({ type: 'run', ids: ids(maxChangedIds), isMore: true }),
    frame({ type: 'delivery', ids: ['del_1'], isMore: true }),
  ])
})
