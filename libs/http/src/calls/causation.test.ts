import { expect, test } from '@jest/globals'
import { newId } from '@opsplane/contracts'
import { computeRequestDepth, createCauses, maxCausationDepth } from './causation.js'

const [run, execution] = [newId('run'), newId('execution')]

test.each([
  ['no cause', {}, 0],
  ['a run that nothing has caused', { causationId: run, causationDepth: 0 }, 1],
  ['an execution nine levels deep', { causationId: execution, causationDepth: 9 }, 10],
  ['an app', { causationId: newId('app'), causationDepth: 0 }, 0],
])('the causation depth increases by one after a run or an execution only: %s', (_who, meta, depth) => {
  expect(computeRequestDepth(meta)).toBe(depth)
})

test('a request beyond the maximum causation depth is rejected', () => {
  const meta = { causationId: run, causationDepth: maxCausationDepth }
  expect(() => computeRequestDepth(meta)).toThrow(expect.objectContaining({ code: 'conflict' }))
})

test('events are one hop deeper than their run or execution, whichever service ran it', async () => {
  const asked: Record<string, readonly string[]> = {}
  const known = (kind: string, depths: Record<string, number>) => async (ids: readonly string[]) => {
    asked[kind] = ids
    return new Map(Object.entries(depths))
  }
  const depthsAfter = createCauses({
    runs: known('runs', { [run]: 3 }),
    executions: known('executions', { [execution]: 7 }),
  })
  const event = (id: string, causationId: string | null = null) => ({ resource: { id }, causationId })
  const events = [event(run), event('inc_1', execution), event('inc_1'), event('inc_1', newId('run'))]
  const depthAfter = await depthsAfter(events)
  expect(events.map(depthAfter)).toEqual([4, 8, 0, 0])
  expect(asked).toEqual({ runs: [run, events[3]?.causationId], executions: [execution] })
})
